import MediaPlane
import Primitives
import TestSupport
import Testing

/// Whose a path is that more than one leg has checked.
@Suite struct PathClaimsTests {
    private static let path = Path(
        local: SocketIndex(0), remote: SocketAddress(IPAddress(v4: 0xC000_0207), port: 4_711))
    private let victim = LegNumber(1, madeBy: WorkerIndex(0))
    private let attacker = LegNumber(2, madeBy: WorkerIndex(0))

    private func order(_ claims: PathClaims<String>) -> [LegNumber] { claims.claims(on: Self.path).map(\.leg) }

    private func proven() -> PathClaims<String> {
        var claims = PathClaims<String>()
        claims.claim(Self.path, by: victim, at: "victim")
        claims.prove(Self.path, by: victim)
        return claims
    }

    @Test func `a path with one claim is that leg's, and uncontested`() throws {
        var claims = PathClaims<String>()
        #expect(claims.holding(of: Self.path) == nil)
        claims.claim(Self.path, by: victim, at: "first")
        claims.claim(Self.path, by: victim, at: "second")
        let holding = try #require(claims.holding(of: Self.path))
        #expect(holding.owner.place == "second" && !holding.isContested && !holding.owner.isProven)
    }

    @Test func `no number of checks takes a proven path away, and none is needed to keep it`() throws {
        var claims = proven()
        for _ in 0..<1_000 { claims.claim(Self.path, by: attacker, at: "attacker") }
        #expect(order(claims) == [victim, attacker])
        #expect(claims.holding(of: Self.path)?.isContested == true)
        // It leaves no trace when it goes.
        #expect(claims.withdraw(Self.path, by: attacker) == false)
        let holding = try #require(claims.holding(of: Self.path))
        #expect(holding.owner.leg == victim && holding.owner.isProven && !holding.isContested)
    }

    @Test func `the newest authenticated packet makes the owner, and the one before comes next`() {
        var claims = proven()
        claims.claim(Self.path, by: attacker, at: "attacker")
        claims.prove(Self.path, by: attacker)
        #expect(order(claims) == [attacker, victim])
        claims.prove(Self.path, by: victim)
        #expect(order(claims) == [victim, attacker])
        claims.prove(Self.path, by: attacker)
        claims.withdraw(Self.path, by: attacker)
        #expect(order(claims) == [victim] && claims.holding(of: Self.path)?.owner.isProven == true)
    }

    @Test func `when an owner goes a leg with proof comes before those with later checks`() {
        var claims = proven()
        let third = LegNumber(3, madeBy: WorkerIndex(0))
        claims.claim(Self.path, by: attacker, at: "")
        claims.prove(Self.path, by: attacker)
        claims.claim(Self.path, by: third, at: "")
        #expect(order(claims) == [attacker, third, victim])
        claims.withdraw(Self.path, by: attacker)
        #expect(order(claims) == [victim, third])
    }

    @Test func `nothing is proven for a leg without a claim, and nothing withdrawn`() {
        var claims = proven()
        claims.prove(Self.path, by: attacker)
        #expect(claims.withdraw(Self.path, by: attacker) == false)
        #expect(order(claims) == [victim])
        #expect(claims.withdraw(Self.path, by: victim) == true)
        #expect(claims.isEmpty)
        #expect(claims.withdraw(Self.path, by: victim) == false, "it was nobody's before")
    }

    @Test func `a crowd of claims is bounded, spares proof, and a leg's next check brings it back`() {
        var claims = proven()
        let crowd = (10..<1_000 as Range<UInt64>).map { LegNumber($0, madeBy: WorkerIndex(0)) }
        let peer = LegNumber(5, madeBy: WorkerIndex(1))
        claims.claim(Self.path, by: peer, at: "")
        for leg in crowd {
            claims.claim(Self.path, by: leg, at: "")
            #expect(order(claims).count <= PathClaims<String>.maximumClaims)
        }
        #expect(order(claims).first == victim && !order(claims).contains(peer))
        claims.claim(Self.path, by: peer, at: "")
        #expect(order(claims).prefix(2) == [victim, peer])
        // Proven ones are the last to go.
        claims.prove(Self.path, by: peer)
        for leg in crowd { claims.claim(Self.path, by: leg, at: "") }
        #expect(order(claims).first == peer && order(claims).contains(victim))
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `whatever happens, the order has each leg once, the owner is in it, and nothing is left in the end`(
        seed: UInt64
    ) {
        print("seed \(seed)")
        var random = SeededRandomSource(seed: seed)
        var claims = PathClaims<Int>()
        let legs = (0..<12 as Range<UInt64>).map { LegNumber($0, madeBy: WorkerIndex(0)) }
        for step in 0..<2_000 {
            let leg = legs[Int.random(in: 0..<legs.count, using: &random)]
            switch UInt8.random(in: 0...3, using: &random) {
            case 0, 1: claims.claim(Self.path, by: leg, at: step)
            case 2: claims.prove(Self.path, by: leg)
            default: claims.withdraw(Self.path, by: leg)
            }
            let order = claims.claims(on: Self.path).map(\.leg)
            #expect(Set(order).count == order.count && order.count <= PathClaims<Int>.maximumClaims)
            #expect(claims.holding(of: Self.path)?.owner.leg == order.first)
            #expect(claims.holding(of: Self.path).map(\.isContested) ?? false == (order.count > 1))
        }
        for leg in legs { claims.withdraw(Self.path, by: leg) }
        #expect(claims.isEmpty)
    }
}
