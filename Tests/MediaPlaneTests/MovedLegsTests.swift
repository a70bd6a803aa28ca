import MediaPlane
import Primitives
import Testing

/// What workers know of legs that have left them, and whose a socket, a path or a call is.
@Suite struct MovedLegsTests {
    private static let peer = SocketAddress(IPAddress(v4: 0xC000_0207), port: 4_711)
    private static let path = Path(local: SocketIndex(3), remote: peer)
    private static let other = Path(local: SocketIndex(2), remote: peer)
    private let leg = LegNumber(3, madeBy: WorkerIndex(0))
    private let first = WorkerIndex(1)
    private let second = WorkerIndex(2)

    private func table(_ changes: (MovedLegs.Change, WorkerIndex)...) -> MovedLegs {
        var table = MovedLegs()
        for (change, host) in changes { table.apply(change, by: host) }
        return table
    }

    @Test func `a leg that has left is found by its fragments, and nothing else is`() {
        let table = table((.moved(leg, fragments: ["old", "new"], paths: []), first))
        #expect([table.host(of: "old"), table.host(of: "new")] == [first, first])
        #expect(table.host(of: "strange") == nil)
        #expect(!table.isEmpty)
    }

    @Test func `only what has been named is a fragment`() {
        var table = table((.moved(leg, fragments: ["before"], paths: []), first))
        table.apply(.named("after"), by: first)
        #expect(table.host(of: "after") == first)
        table.apply(.withdrawn(leg, fragments: ["before"], paths: []), by: first)
        #expect(table.host(of: "before") == nil)
        #expect(table.host(of: "after") == first)
    }

    @Test func `nothing is left of a leg that has ended`() {
        let table = table(
            (.moved(leg, fragments: ["a"], paths: []), first), (.named("b"), first),
            (.withdrawn(leg, fragments: ["a", "b"], paths: []), first))
        #expect(table == MovedLegs())
        #expect(table.isEmpty)
    }

    @Test func `a leg that moves on is where it says, and a late word of its last host counts no more`() {
        let table = table(
            (.moved(leg, fragments: ["a"], paths: []), first), (.moved(leg, fragments: ["a"], paths: []), second),
            (.withdrawn(leg, fragments: ["a"], paths: []), first))
        #expect(table.host(of: "a") == second)
    }

    @Test func `a leg that comes back leaves no entry`() {
        var table = table((.moved(leg, fragments: ["a"], paths: []), first))
        table.remove(leg, fragments: ["a"], sources: [])
        #expect(table.isEmpty)
    }

    // MARK: Sources

    @Test func `packets of a source go to the workers that have legs with it, each once`() {
        let (source, other) = (SSRC(7), SSRC(8))
        var table = table(
            (.heard(leg, [source, other]), first), (.heard(LegNumber(4, madeBy: WorkerIndex(0)), [source]), first),
            (.heard(LegNumber(5, madeBy: WorkerIndex(0)), [source]), second))
        #expect(table.hosts(of: source) == [first, second])
        #expect(table.hosts(of: other) == [first])
        #expect(table.hosts(of: SSRC(9)) == [])
        // The leg goes on; a late word of its last host counts no more.
        table.apply(.heard(leg, [source, other]), by: second)
        table.apply(.forgotten(leg, [source, other]), by: first)
        #expect(table.hosts(of: other) == [second])
        table.apply(.forgotten(leg, [other]), by: second)
        #expect(table.hosts(of: other) == [])
        #expect(table.hosts(of: source) == [second, first])
    }

    @Test func `a source is looked for on so many legs, and nothing is left of it when they have gone or come back`() {
        var table = MovedLegs()
        let legs = (0..<20 as Range<UInt64>).map { LegNumber($0, madeBy: WorkerIndex(0)) }
        for (index, leg) in legs.enumerated() {
            table.apply(.heard(leg, [SSRC(7)]), by: WorkerIndex(UInt16(index + 1)))
        }
        #expect(table.hosts(of: SSRC(7)).count == MovedLegs.maximumHolders)
        for (index, leg) in legs.enumerated() {
            if index % 2 == 0 {
                table.apply(.forgotten(leg, [SSRC(7)]), by: WorkerIndex(UInt16(index + 1)))
            } else {
                table.remove(leg, fragments: [], sources: [SSRC(7)])
            }
        }
        #expect(table == MovedLegs() && table.isEmpty)
    }

    // MARK: Paths

    private func claims(_ changes: (MovedLegs.Change, WorkerIndex)...) -> PathClaims<LegPlace<String>> {
        var claims = PathClaims<LegPlace<String>>()
        for (change, host) in changes { LegPlace.apply(change, by: host, to: &claims) }
        return claims
    }

    private func host(_ claims: PathClaims<LegPlace<String>>, _ path: Path) -> WorkerIndex? {
        if case .elsewhere(let host)? = claims.holding(of: path)?.owner.place { host } else { nil }
    }

    @Test func `packets follow a leg to where it is, and a late word of its last host counts no more`() {
        let claims = claims(
            (.moved(leg, fragments: [], paths: [Self.path]), first),
            (.moved(leg, fragments: [], paths: [Self.path]), second),
            (.withdrawn(leg, fragments: [], paths: [Self.path]), first))
        #expect(host(claims, Self.path) == second)
        #expect(host(claims, Self.other) == nil, "the same peer at another socket has not been authenticated")
    }

    @Test func `of a leg that has ended no path is left`() {
        let claims = claims(
            (.moved(leg, fragments: [], paths: [Self.path]), first), (.validated(leg, Self.other), first),
            (.withdrawn(leg, fragments: [], paths: [Self.path, Self.other]), first))
        #expect(claims.isEmpty)
    }

    @Test
    func `a check of a leg elsewhere takes no path from a leg that is here, and neither does one of another worker`() {
        var claims = PathClaims<LegPlace<String>>()
        claims.claim(Self.path, by: leg, at: .here("a leg"))
        claims.prove(Self.path, by: leg)
        for host in [first, second] {
            LegPlace.apply(.validated(LegNumber(7, madeBy: host), Self.path), by: host, to: &claims)
        }
        #expect(
            claims.claims(on: Self.path).map(\.leg) == [leg, LegNumber(7, madeBy: second), LegNumber(7, madeBy: first)])
        // What it really sends from there is another matter.
        LegPlace.apply(.proven(LegNumber(7, madeBy: first), Self.path), by: first, to: &claims)
        #expect(host(claims, Self.path) == first)
    }

    @Test func `a packet is for the one leg that claims its path, here or elsewhere, and keys decide between several`()
    {
        var claims = PathClaims<LegPlace<String>>()
        guard case .stray = claims.admission(over: Self.path) else {
            Issue.record("a path without a leg admits \(claims.admission(over: Self.path))")
            return
        }
        claims.claim(Self.path, by: leg, at: .here("a leg"))
        guard case .here("a leg", isProven: false) = claims.admission(over: Self.path) else {
            Issue.record("a claimed path admits \(claims.admission(over: Self.path))")
            return
        }
        claims.prove(Self.path, by: leg)
        guard case .here("a leg", isProven: true) = claims.admission(over: Self.path) else {
            Issue.record("a proven path admits \(claims.admission(over: Self.path))")
            return
        }
        LegPlace.apply(.validated(LegNumber(7, madeBy: first), Self.path), by: first, to: &claims)
        guard case .contested = claims.admission(over: Self.path) else {
            Issue.record("a contested path admits \(claims.admission(over: Self.path))")
            return
        }
        claims.withdraw(Self.path, by: leg)
        guard case .elsewhere(first) = claims.admission(over: Self.path) else {
            Issue.record("a path of a leg elsewhere admits \(claims.admission(over: Self.path))")
            return
        }
    }

    @Test(arguments: [(1, 1), (2, 1), (3, 2), (256, 256)])
    func `every socket and every call has one worker`(workers: Int, sockets: Int) {
        let layout = WorkerLayout(workers: workers, socketsPerWorker: sockets)
        for worker in 0..<workers {
            let index = WorkerIndex(UInt16(worker))
            for place in [0, sockets - 1] {
                let local = SocketIndex(UInt16(layout.firstSocket(of: index) + place))
                for transport in [Path.Transport.udp, .tcp(ConnectionID(place: 0, generation: 0))] {
                    #expect(layout.worker(of: Path(local: local, remote: Self.peer, transport: transport)) == index)
                }
            }
            for random in [0, 1, UInt64.max / 2, .max] {
                let number = layout.number(random, onTheWorkerOf: UInt64(worker))
                #expect(layout.worker(ofCall: number) == index)
            }
        }
    }
}
