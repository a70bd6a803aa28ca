import CallControl
import Primitives
import SignalingServer
import TestSupport
import Testing

@Suite struct `Login throttle` {
    private static let configuration = {
        var configuration = LoginThrottle.Configuration()
        configuration.account = .init(burst: 3, interval: .seconds(10))
        configuration.network = .init(burst: 5, interval: .seconds(2))
        configuration.capacity = 8
        return configuration
    }()

    private var throttle = LoginThrottle(configuration)
    private var clock = VirtualClock()
    private let home = network("192.0.2.1")

    private static func network(_ text: String) -> LoginThrottle.Network {
        guard let address = IPAddress(text) else { preconditionFailure("\(text) is an address") }
        return LoginThrottle.Network(address)
    }

    private mutating func fail(_ name: String, from network: LoginThrottle.Network) -> LoginThrottle.Verdict {
        let verdict = throttle.attempt(address(name), from: network, at: clock.now)
        if verdict == .allowed { throttle.failed(address(name), from: network, at: clock.now) }
        return verdict
    }

    @Test mutating func `an account takes a burst of failures, then one per interval`() {
        for _ in 1...3 { #expect(fail("joe", from: home) == .allowed) }
        #expect(fail("joe", from: home) == .refused(retryAfter: .seconds(10)))
        clock.advance(by: .seconds(4))
        #expect(fail("joe", from: home) == .refused(retryAfter: .seconds(6)))
        clock.advance(by: .seconds(6))
        #expect(fail("joe", from: home) == .allowed)
        #expect(fail("joe", from: home) == .refused(retryAfter: .seconds(10)))
        // Another account from the same place is not concerned.
        #expect(fail("ann", from: home) == .allowed)
        clock.advance(by: .seconds(60))
        for _ in 1...3 { #expect(fail("joe", from: home) == .allowed) }
    }

    @Test mutating func `a network takes a burst over all accounts`() {
        for name in ["a", "b", "c", "d", "e"] { #expect(fail(name, from: home) == .allowed) }
        #expect(fail("f", from: home) == .refused(retryAfter: .seconds(2)))
        #expect(fail("f", from: Self.network("192.0.2.2")) == .allowed)
        clock.advance(by: .seconds(2))
        #expect(fail("f", from: home) == .allowed)
    }

    @Test mutating func `attempts in flight count, and a right password gives its share back`() {
        for _ in 1...3 { #expect(throttle.attempt(address("joe"), from: home, at: clock.now) == .allowed) }
        #expect(throttle.attempt(address("joe"), from: home, at: clock.now) == .refused(retryAfter: .seconds(10)))
        throttle.succeeded(address("joe"))
        #expect(throttle.attempt(address("joe"), from: home, at: clock.now) == .allowed)
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
        for _ in 1...3 { #expect(fail("joe", from: home) == .allowed) }
        for number in 1...100 { _ = fail("user\(number)", from: Self.network("198.51.100.\(number)")) }
        #expect(fail("joe", from: Self.network("203.0.113.1")) == .refused(retryAfter: .seconds(10)))
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `no more failures get through than burst plus one per interval`(_ seed: UInt64) {
        print("seed \(seed)")
        var random = SeededRandomSource(seed: seed)
        var throttle = LoginThrottle(Self.configuration)
        var clock = VirtualClock()
        let start = clock.now
        var allowed = 0
        for _ in 0..<5000 {
            clock.advance(by: .milliseconds(Int64(random.next() % 500)))
            let source = Self.network("10.0.0.\(random.next() % 256)")
            if throttle.attempt(address("joe"), from: source, at: clock.now) == .allowed {
                throttle.failed(address("joe"), from: source, at: clock.now)
                allowed += 1
            }
        }
        #expect(allowed <= 3 + Int((clock.now - start).inSeconds / 10))
        #expect(allowed > 50)
    }
}
