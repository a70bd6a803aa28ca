import CallControl
import Primitives
import SignalingServer
import TestSupport
import Testing

@Suite struct `Login throttle` {
    private static let configuration = {
        var configuration = LoginThrottle.Configuration()
        configuration.claim = .init(burst: 3, interval: .seconds(10))
        configuration.network = .init(burst: 5, interval: .seconds(2))
        configuration.account = .init(burst: 8, interval: .seconds(30))
        configuration.capacity = 8
        return configuration
    }()

    private var throttle = LoginThrottle(configuration)
    private var clock = VirtualClock()
    private let home = network("192.0.2.1")
    private let away = network("192.0.2.2")

    private static func network(_ text: String) -> SourceNetwork {
        guard let address = IPAddress(text) else { preconditionFailure("\(text) is an address") }
        return SourceNetwork(address)
    }

    private mutating func attempt(_ name: String, from network: SourceNetwork?, isFamiliar: Bool = false)
        -> LoginThrottle.Admission
    {
        throttle.attempt(LoginThrottle.Claim(address(name), from: network), isFamiliar: isFamiliar, at: clock.now)
    }

    /// A wrong password; `nil` if it was hashed, else what was answered.
    private mutating func fail(_ name: String, from network: SourceNetwork, isFamiliar: Bool = false) -> LoginThrottle
        .Admission?
    {
        let admission = attempt(name, from: network, isFamiliar: isFamiliar)
        guard case .allowed(let attempt) = admission else { return admission }
        throttle.failed(attempt, at: clock.now)
        return nil
    }

    private func permits(_ name: String, from network: SourceNetwork, isFamiliar: Bool = false) -> Bool {
        throttle.permitsRecall(LoginThrottle.Claim(address(name), from: network), isFamiliar: isFamiliar, at: clock.now)
    }

    @Test mutating func `an account takes a burst of failures from a network, then one per interval`() {
        for _ in 1...3 { #expect(fail("joe", from: home) == nil) }
        #expect(fail("joe", from: home) == .refused(retryAfter: .seconds(10)))
        clock.advance(by: .seconds(4))
        #expect(fail("joe", from: home) == .refused(retryAfter: .seconds(6)))
        clock.advance(by: .seconds(6))
        #expect(fail("joe", from: home) == nil)
        #expect(fail("joe", from: home) == .refused(retryAfter: .seconds(10)))
        // Another account from the same place is not concerned, nor the same account from another place.
        #expect(fail("ann", from: home) == nil)
        #expect(fail("joe", from: away) == nil)
        clock.advance(by: .seconds(60))
        for _ in 1...3 { #expect(fail("joe", from: home) == nil) }
    }

    @Test mutating func `a network takes a burst over all accounts`() {
        for name in ["a", "b", "c", "d", "e"] { #expect(fail(name, from: home) == nil) }
        #expect(fail("f", from: home) == .refused(retryAfter: .seconds(2)))
        #expect(fail("f", from: away) == nil)
        clock.advance(by: .seconds(2))
        #expect(fail("f", from: home) == nil)
    }

    @Test mutating func `attempts in flight count for account and network, and are no failures`() {
        var attempts: [LoginThrottle.Attempt] = []
        for _ in 1...3 { if case .allowed(let one) = attempt("joe", from: home) { attempts.append(one) } }
        #expect(attempts.count == 3)
        #expect(attempt("joe", from: home) == .pending)
        for name in ["ann", "bob"] { if case .allowed(let one) = attempt(name, from: home) { attempts.append(one) } }
        #expect(attempt("carol", from: home) == .pending)
        for one in attempts { throttle.succeeded(one) }
        for name in ["a", "b", "c", "d", "e"] { #expect(fail(name, from: home) == nil) }
        #expect(fail("f", from: home) == .refused(retryAfter: .seconds(2)))
    }

    @Test(arguments: [300, 5_000])
    mutating func `of many names at once from one network no more are hashed than may fail`(_ count: Int) {
        let admissions = (1...count).map { attempt("name\($0)", from: home) }
        let allowed = admissions.filter { if case .allowed = $0 { true } else { false } }
        #expect(allowed.count == 5)
        #expect(admissions.filter { $0 == .pending }.count == count - 5)
    }

    @Test mutating func `an account attacked from anywhere stays open for the networks that it knows`() {
        var hashed = 0
        for number in 1...200 where fail("joe", from: Self.network("198.51.100.\(number)")) == nil { hashed += 1 }
        #expect(hashed == 8)
        guard case .refused = attempt("joe", from: home) else {
            Issue.record("a stranger is refused")
            return
        }
        guard case .allowed = attempt("joe", from: home, isFamiliar: true) else {
            Issue.record("the owner is not")
            return
        }
    }

    @Test func `an account attacked from one network for a day stays open for strangers`() {
        var (throttle, clock) = (LoginThrottle(), VirtualClock())
        for _ in 1...86_400 {
            if case .allowed(let attempt) = throttle.attempt(
                LoginThrottle.Claim(address("joe"), from: away), isFamiliar: false, at: clock.now)
            {
                throttle.failed(attempt, at: clock.now)
            }
            clock.advance(by: .seconds(1))
        }
        guard
            case .allowed = throttle.attempt(
                LoginThrottle.Claim(address("joe"), from: home), isFamiliar: false, at: clock.now)
        else {
            Issue.record("whoever comes from elsewhere is let in")
            return
        }
    }

    @Test mutating func `failures of a familiar network neither close the account nor the network for others`() {
        for _ in 1...50 {
            for name in ["joe", "ann", "bob"] { _ = fail(name, from: home, isFamiliar: true) }
            clock.advance(by: .seconds(10))
        }
        #expect(fail("joe", from: away) == nil)
        #expect(fail("carol", from: home) == nil)
    }

    @Test mutating func `strangers compare no more credentials with remembered ones than they may try`() {
        #expect(permits("joe", from: home))
        for _ in 1...3 { #expect(fail("joe", from: home) == nil) }
        #expect(!permits("joe", from: home))
        #expect(permits("joe", from: home, isFamiliar: true))
        #expect(permits("joe", from: away))
        // Nor do they where the network is not let in any more.
        for name in ["a", "b", "c", "d", "e"] { _ = fail(name, from: away) }
        let compared = (1...1_000).filter { _ in
            defer { _ = fail("dave", from: away) }
            return permits("dave", from: away)
        }
        #expect(compared.count == 10)
    }

    @Test mutating func `a familiar network compares remembered credentials at a rate`() {
        let compared = (1...5_000).filter { _ in
            defer { _ = fail("joe", from: home, isFamiliar: true) }
            return permits("joe", from: home, isFamiliar: true)
        }
        #expect(compared.count == 603)
        clock.advance(by: .seconds(1))
        #expect(permits("joe", from: home, isFamiliar: true))
    }

    @Test mutating func `all networks of one IPv6 site share a budget`() {
        var throttle = LoginThrottle()
        var hashed = 0
        for number in 1...2_000 {
            let claim = LoginThrottle.Claim(
                address("user\(number)"), from: Self.network("2001:db8:1:\(String(number, radix: 16))::1"))
            guard case .allowed(let attempt) = throttle.attempt(claim, isFamiliar: false, at: clock.now) else {
                continue
            }
            throttle.failed(attempt, at: clock.now)
            hashed += 1
        }
        #expect(hashed == 300)
    }

    @Test(arguments: [
        ("2001:db8::1", "2001:db8::ffff:1", true),
        ("2001:db8::1", "2001:db8:0:1::1", false),
        ("192.0.2.1", "::ffff:192.0.2.1", true),
        ("192.0.2.1", "192.0.2.2", false),
    ])
    func `a network is an IPv4 address or an IPv6 slash 64`(_ a: String, _ b: String, _ same: Bool) {
        #expect((Self.network(a) == Self.network(b)) == same)
    }

    @Test mutating func `who owes most is remembered when there are too many`() {
        for _ in 1...3 { #expect(fail("joe", from: home) == nil) }
        for number in 1...100 { _ = fail("user\(number)", from: Self.network("198.51.100.\(number)")) }
        #expect(fail("joe", from: home) == .refused(retryAfter: .seconds(10)))
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `no more failures of strangers get through than burst plus one per interval`(_ seed: UInt64) {
        print("seed \(seed)")
        var random = SeededRandomSource(seed: seed)
        var throttle = LoginThrottle(Self.configuration)
        var clock = VirtualClock()
        let start = clock.now
        var allowed = 0
        for _ in 0..<5000 {
            clock.advance(by: .milliseconds(Int64(random.next() % 500)))
            let claim = LoginThrottle.Claim(address("joe"), from: Self.network("10.0.0.\(random.next() % 256)"))
            if case .allowed(let attempt) = throttle.attempt(claim, isFamiliar: false, at: clock.now) {
                throttle.failed(attempt, at: clock.now)
                allowed += 1
            }
        }
        #expect(allowed <= 8 + Int((clock.now - start).inSeconds / 30))
        #expect(allowed > 20)
    }
}
