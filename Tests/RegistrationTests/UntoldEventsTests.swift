import CallControl
import CallSupport
import Registration
import Testing

/// Events whose notifications a process could not add any more.
struct UntoldEventsTests {
    private static func event(_ sequence: Int, call: UInt64 = 1, at time: Int64, for devices: [SubscriptionID] = ["s1"])
        -> LoggedEvent
    {
        let name = DisplayName(name: "", number: "")
        return LoggedEvent(
            call: CallID(call), sequence: sequence, startedAt: 0, elapsed: .milliseconds(time),
            event: CallEvent(
                .caller, .alerted,
                to: CallEvent.Audience(
                    devices: devices, session: "A", local: name, remote: .user(name), isCalled: false)))
    }

    private static func subscription(_ name: String = "s1", told: [LoggedEvent] = []) -> RestoredSubscription {
        let user = RegistrationRig.user
        return RestoredSubscription(
            StoredSubscription(
                id: SubscriptionID(name), channel: ChannelID(name), user: user, services: ["call"], expiry: .max,
                firstEventID: 1),
            frames: told.enumerated().map {
                NotificationFrame(
                    eventID: UInt64($0 + 1), time: $1.time, user: user, channel: ChannelID(name), notice: .call($1))
            })
    }

    private func untold(_ events: [LoggedEvent], _ subscriptions: [RestoredSubscription]) -> [String] {
        UntoldEvents(subscriptions, stoppedAt: 100_000).events(of: events).map {
            "\($0.sequence) \($0.event.audience?.devices.map(\.rawValue) ?? [])"
        }
    }

    @Test func `what comes after the last event that was told is untold`() {
        let events = (1...4).map { Self.event($0, at: 90_000 + Int64($0)) }
        #expect(untold(events, [Self.subscription(told: Array(events[..<2]))]) == [#"3 ["s1"]"#, #"4 ["s1"]"#])
        #expect(untold(events, [Self.subscription(told: events)]).isEmpty)
    }

    @Test func `a call of which nothing was told is untold from its beginning`() {
        let events = (1...2).map { Self.event($0, at: 99_000) }
        #expect(untold(events, [Self.subscription()]).count == 2)
        let other = Self.event(7, call: 2, at: 98_500)
        #expect(untold(events, [Self.subscription(told: [other])]).count == 2)
    }

    @Test func `each device is told what it lacks, and nobody who is gone`() {
        let events = [Self.event(1, at: 99_000, for: ["s1", "s2", "s3"])]
        #expect(untold(events, [Self.subscription(told: events), Self.subscription("s2")]) == [#"1 ["s2"]"#])
    }

    @Test func `what is old was told, and forgotten since`() {
        #expect(untold([Self.event(1, at: 60_000)], [Self.subscription()]).isEmpty)
        // Younger notifications are there, and this one has made room for them.
        let younger = Self.event(9, call: 2, at: 99_000)
        #expect(untold([Self.event(1, at: 90_000)], [Self.subscription(told: [younger])]).isEmpty)
    }

    @Test func `events that nobody is told are no concern`() {
        var event = Self.event(1, at: 99_000)
        event.event.audience = nil
        #expect(untold([event], [Self.subscription()]).isEmpty)
    }
}
