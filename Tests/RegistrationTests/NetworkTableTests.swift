import CallControl
import CallSupport
import Primitives
import Registration
import TestSupport
import Testing

/// How many subscriptions of users come from one network.
@Suite struct NetworkTableTests {
    private let home = SourceNetwork(IPAddress(v6: 0x2001_0db8_0000_0001, 7))
    /// Another address in the same /64.
    private let sameNetwork = SourceNetwork(IPAddress(v6: 0x2001_0db8_0000_0001, 8))
    private let nextNetwork = SourceNetwork(IPAddress(v6: 0x2001_0db8_0000_0002, 7))
    private let start = MonotonicTime(nanoseconds: 1_000_000_000)

    private func table(_ maximum: Int, burst: Int = 100, capacity: Int = 10) -> NetworkTable {
        NetworkTable(
            .init(
                maximumSubscriptions: maximum, rate: .init(burst: burst, interval: .milliseconds(20)),
                capacity: capacity))
    }

    @Test func `one network has so many subscriptions, and makes so many in a row; others are not concerned`() throws {
        var held = table(2)
        try held.enter(home, at: start)
        try held.enter(sameNetwork, at: start)
        #expect(throws: RegistrationError.limitOfNetwork) { try held.enter(home, at: start + .seconds(3_600)) }
        try held.enter(nextNetwork, at: start)
        held.leave(sameNetwork)
        try held.enter(home, at: start)

        var made = table(100, burst: 2)
        for network in [home, sameNetwork] {
            try made.enter(network, at: start)
            made.leave(network)
        }
        let wait = RegistrationError.tooOftenFromNetwork(retryAfter: .milliseconds(20))
        // What is refused costs nothing.
        for _ in 0..<3 { #expect(throws: wait) { try made.enter(home, at: start) } }
        try made.enter(nextNetwork, at: start)
        try made.enter(home, at: start + .milliseconds(20))
        #expect(throws: wait) { try made.enter(home, at: start + .milliseconds(20)) }
        for _ in 0..<1_000 { try made.enter(nil, at: start) }
    }

    @Test func `what a process has taken over counts once it is known where it belongs, and is not refused`() throws {
        var table = table(1)
        try table.enter(nextNetwork, at: start)
        table.found(nextNetwork)
        for _ in 0..<2 {
            #expect(throws: RegistrationError.limitOfNetwork) { try table.enter(nextNetwork, at: start) }
            table.leave(nextNetwork)
        }
        try table.enter(nextNetwork, at: start)
    }

    @Test func `a full network has room for what takes the place of another subscription`() throws {
        var table = table(1)
        try table.enter(home, at: start)
        try table.enter(home, replacing: true, at: start)
        table.leave(home)
        #expect(throws: RegistrationError.limitOfNetwork) { try table.enter(home, at: start) }
    }

    @Test func `a subscription that is not made after all costs nothing`() throws {
        var table = table(100, burst: 2)
        for _ in 0..<10 {
            try table.enter(home, at: start)
            table.withdraw(home)
        }
        try table.enter(home, at: start)
    }

    @Test func `users ask for so many subscriptions in a row, and are forgotten once they owe nothing`() throws {
        var rates = AccountRates(.init(burst: 2, interval: .seconds(1)))
        let users = (0..<6_000).map { UserAddress(parsing: "user\($0)@example.com")! }
        for _ in 0..<2 { try rates.charge(users[0], at: start) }
        #expect(throws: RegistrationError.tooOften(retryAfter: .seconds(1))) { try rates.charge(users[0], at: start) }
        for user in users[1..<3_000] { try rates.charge(user, at: start + .milliseconds(1_500)) }
        #expect(rates.count == 3_000)
        for user in users[3_000...] { try rates.charge(user, at: start + .seconds(60)) }
        #expect(rates.count == 3_000)
    }

    @Test func `networks without subscriptions are forgotten, those that owe least first`() throws {
        var table = table(100, capacity: 10)
        let networks = (0..<1_000).map { SourceNetwork(IPAddress(v4: 0xC000_0000 + UInt32($0))) }
        for _ in 0..<100 {
            try table.enter(home, at: start)
            table.leave(home)
        }
        try table.enter(nextNetwork, at: start)
        for network in networks {
            try table.enter(network, at: start)
            table.leave(network)
        }
        #expect(table.count < 30)
        #expect(throws: RegistrationError.tooOftenFromNetwork(retryAfter: .milliseconds(20))) {
            try table.enter(home, at: start)
        }
        for _ in 0..<99 { try table.enter(nextNetwork, at: start + .seconds(3_600)) }
        #expect(throws: RegistrationError.limitOfNetwork) {
            try table.enter(nextNetwork, at: start + .seconds(7_200))
        }
    }

    @Test func `a registration says from where its subscriptions count`() throws {
        var registration = Registration(user: UserAddress(parsing: "ann@example.com")!, firstRequest: 1)
        let now = Moment(start, epochMilliseconds: 42)
        let identity = SubscriptionIdentity(subscription: "s1", channel: ChannelID("c1"), firstEventID: 1)
        func changes(_ actions: [RegistrationAction]) -> [NetworkChange] {
            actions.compactMap { if case .networkChanged(let change) = $0 { change } else { nil } }
        }
        let made = try registration.subscribe(
            SubscriptionRequest(services: ["call"], network: home), as: identity, at: now)
        #expect(changes(made.actions).isEmpty, "it was counted before")
        func extend(from network: SourceNetwork?) throws -> [NetworkChange] {
            changes(try registration.extend("s1", SubscriptionRequest(services: [], network: network), at: now).actions)
        }
        #expect(try extend(from: sameNetwork).isEmpty)
        #expect(try extend(from: nil).isEmpty)
        #expect(try extend(from: nextNetwork).isEmpty)
        #expect(changes(try registration.unsubscribe("s1", at: now)) == [.left(home)])

        let unknown = SubscriptionIdentity(subscription: "s2", channel: ChannelID("c2"), firstEventID: 1)
        _ = try registration.subscribe(SubscriptionRequest(services: ["call"]), as: unknown, at: now)
        let found = try registration.extend("s2", SubscriptionRequest(services: [], network: home), at: now)
        #expect(changes(found.actions) == [.found(home)])
        #expect(changes(try registration.unsubscribe("s2", at: now)) == [.left(home)])
    }
}
