import CallControl
import CallSupport
import Primitives
import Registration
import TestSupport
import Testing

/// Presence, who watches it, and subscriptions to events (spidr-wire §9, §10).
struct PresenceTests {
    private static let (joe, bob) = (
        UserAddress(parsing: "joe@example.com")!, UserAddress(parsing: "bob@example.com")!
    )
    private static let busy = Presence(.open, .busy, note: "later")
    private var rig = RegistrationRig(
        .init(
            messages: .init(rate: .init(burst: 3, interval: .seconds(1))),
            interests: .init(
                watchTime: .seconds(100), minimumEventTime: .seconds(10), maximumEventTime: .seconds(200),
                maximumWatched: 2, maximumWatchers: 2, maximumEventSubscriptions: 2)))

    private mutating func set(_ presence: Presence) throws(ServiceRefusal) -> [RegistrationAction] {
        rig.note(try rig.registration.setPresence(presence, at: rig.now))
    }

    private func told(_ user: UserAddress, _ presence: Presence) -> RegistrationAction {
        .tell(user, .presence(PresenceReport(RegistrationRig.user, presence)))
    }

    private mutating func hear(_ message: ServiceMessage) -> [ServiceNotice] {
        rig.note(rig.registration.told(message, at: rig.now)).compactMap {
            guard case .transmit(let frame, _) = $0, case .service(let notice) = frame.notice else { return nil }
            return notice
        }
    }

    private mutating func addWatcher(_ user: UserAddress) -> [RegistrationAction]? {
        rig.registration.addWatcher(user, for: .seconds(100), at: rig.clock.now).map { rig.note($0) }
    }

    // MARK: Who watches

    @Test mutating func `who watches is told at once, and of each change`() throws {
        #expect(addWatcher(Self.joe) == [told(Self.joe, .absent)])
        try rig.subscribe()
        #expect(try set(Self.busy) == [told(Self.joe, Self.busy)])
        #expect(try set(Self.busy) == [], "nothing has changed")
        #expect(addWatcher(Self.joe) == [told(Self.joe, Self.busy)])
    }

    @Test mutating func `presence needs a subscription, and ends with the last one`() throws {
        #expect(throws: ServiceRefusal.notSubscribed) { try set(Self.busy) }
        #expect(try set(Presence(.closed)) == [])
        try rig.subscribe()
        try rig.subscribe()
        _ = addWatcher(Self.joe)
        _ = try set(Self.busy)
        let first = rig.note(try rig.registration.unsubscribe("s1", at: rig.now))
        #expect(!first.contains(told(Self.joe, .absent)))
        let second = rig.note(try rig.registration.unsubscribe("s2", at: rig.now))
        #expect(second.contains(told(Self.joe, .absent)))
        #expect(rig.stored.contains(.service(.presence(nil, of: RegistrationRig.user))))
    }

    @Test mutating func `presence ends with a subscription that expires`() throws {
        try rig.subscribe(expires: .seconds(60))
        _ = try set(Self.busy)
        _ = addWatcher(Self.joe)
        #expect(rig.advance(by: .seconds(65)).contains(told(Self.joe, .absent)))
    }

    @Test mutating func `a watch that is not renewed ends`() throws {
        try rig.subscribe()
        _ = addWatcher(Self.joe)
        _ = addWatcher(Self.bob)
        _ = rig.advance(by: .seconds(50))
        _ = addWatcher(Self.bob)
        _ = rig.advance(by: .seconds(50))
        #expect(try set(Self.busy) == [told(Self.bob, Self.busy)])
        _ = rig.advance(by: .seconds(50))
        #expect(try set(Presence(.open)) == [])
    }

    @Test mutating func `as many watch as may, and whoever stops makes room`() {
        _ = addWatcher(Self.joe)
        _ = addWatcher(Self.bob)
        #expect(addWatcher(RegistrationRig.user) == nil)
        #expect(addWatcher(Self.joe) != nil)
        _ = rig.registration.told(.unwatched(by: Self.joe), at: rig.now)
        #expect(addWatcher(RegistrationRig.user) != nil)
    }

    @Test mutating func `who changes the presence too often waits`() throws {
        try rig.subscribe()
        for number in 0..<3 { _ = try set(Presence(.open, note: "\(number)")) }
        #expect(throws: ServiceRefusal.tooManyMessages(retryAfter: .seconds(1))) { try set(Self.busy) }
        #expect(rig.registration.presenceReport.presence.note == "2")
    }

    // MARK: What the user watches

    @Test mutating func `only those who are watched are told, to subscriptions for presence`() throws {
        try rig.subscribe(services: ["Presence"])
        _ = try rig.open(1, on: 1)
        let report = PresenceReport(Self.joe, Self.busy)
        #expect(hear(.presence(report)) == [])
        #expect(hear(.askedPresence(report)) == [.presence(report)])
        #expect(try rig.registration.watch([Self.joe], at: rig.now).time == .seconds(100))
        #expect(hear(.presence(report)) == [.presence(report)])
        #expect(
            rig.note(rig.registration.stopWatching([Self.joe], at: rig.now))
                == [.tell(Self.joe, .unwatched(by: RegistrationRig.user))])
        #expect(hear(.presence(report)) == [])
    }

    @Test mutating func `a watch ends on this side, too, unless it is renewed at half of its time`() throws {
        try rig.subscribe(services: ["Presence"])
        _ = try rig.open(1, on: 1)
        let report = PresenceReport(Self.joe, Self.busy)
        _ = try rig.registration.watch([Self.joe], at: rig.now)
        _ = rig.advance(by: .seconds(50))
        _ = try rig.registration.watch([Self.joe], at: rig.now)
        _ = rig.advance(by: .seconds(99))
        #expect(hear(.presence(report)) == [.presence(report)])
        _ = rig.advance(by: .seconds(1))
        #expect(hear(.presence(report)) == [])
        #expect(rig.stored.last == .service(.interests(nil, of: RegistrationRig.user)))
    }

    @Test mutating func `one user watches so many others`() throws {
        _ = try rig.registration.watch([Self.joe, Self.bob], at: rig.now)
        #expect(throws: ServiceRefusal.limitOfWatched(2)) {
            try rig.registration.watch([RegistrationRig.user], at: rig.now)
        }
        _ = try rig.registration.watch([Self.joe], at: rig.now)
    }

    // MARK: Events

    @Test mutating func `a subscription to presence has its own notifications`() throws {
        try rig.subscribe(services: ["event:presence"])
        _ = try rig.open(1, on: 1)
        let report = PresenceReport(Self.joe, Self.busy)
        let granted = try rig.registration.subscribe("e1", to: .presence, of: [Self.joe], for: nil, at: rig.now)
        #expect(granted.time == .seconds(100))
        #expect(hear(.presence(report)) == [.event(EventReport(report, to: "e1"))])
        #expect(
            rig.note(try rig.registration.unsubscribe(event: "e1", at: rig.now))
                == [.tell(Self.joe, .unwatched(by: RegistrationRig.user))])
        #expect(throws: ServiceRefusal.noSuchEventSubscription) {
            try rig.registration.unsubscribe(event: "e1", at: rig.now)
        }
    }

    @Test mutating func `who is watched in two ways stays watched when one ends`() throws {
        _ = try rig.registration.watch([Self.joe], at: rig.now)
        _ = try rig.registration.subscribe("e1", to: .presence, of: [Self.joe, Self.bob], for: nil, at: rig.now)
        #expect(
            rig.note(try rig.registration.unsubscribe(event: "e1", at: rig.now))
                == [.tell(Self.bob, .unwatched(by: RegistrationRig.user))])
    }

    @Test(arguments: [(nil, 100), (1, 10), (150, 150), (900, 200)] as [(Int64?, Int64)])
    func `the time of a subscription to events is negotiated`(_ wished: Int64?, _ granted: Int64) throws {
        var rig = rig
        let time = try rig.registration.subscribe(
            "e1", to: .messageSummary, of: [], for: wished.map { .seconds($0) }, at: rig.now
        ).time
        #expect(time == .seconds(granted))
    }

    @Test mutating func `a subscription to voice mail is told the count, that of another user is refused`() throws {
        try rig.subscribe(services: ["event:message-summary"])
        _ = try rig.open(1, on: 1)
        #expect(throws: ServiceRefusal.voicemailOfAnother(Self.joe)) {
            try rig.registration.subscribe("e1", to: .messageSummary, of: [Self.joe], for: nil, at: rig.now)
        }
        _ = try rig.registration.subscribe(
            "e1", to: .messageSummary, of: [RegistrationRig.user], for: nil, at: rig.now)
        let count = VoicemailCount(unheard: 2, heard: 0)
        #expect(hear(.voicemailFor(event: "e1", count)) == [.event(EventReport(count, to: "e1"))])
        #expect(hear(.voicemail(count)) == [.voicemail(count), .event(EventReport(count, to: "e1"))])
        #expect(hear(.voicemailFor(event: "e2", count)) == [])
    }

    @Test mutating func `a subscription to events is extended, and its users may change`() throws {
        _ = try rig.registration.subscribe("e1", to: .presence, of: [Self.joe], for: nil, at: rig.now)
        _ = rig.advance(by: .seconds(90))
        let extended = try rig.registration.extend("e1", of: [Self.bob], for: .seconds(50), at: rig.now)
        #expect(extended.event.users == [Self.bob] && extended.time == .seconds(50))
        #expect(rig.note(extended.actions) == [.tell(Self.joe, .unwatched(by: RegistrationRig.user))])
        _ = rig.advance(by: .seconds(49))
        #expect(try rig.registration.extend("e1", of: [], for: nil, at: rig.now).event.users == [Self.bob])
        _ = rig.advance(by: .seconds(100))
        #expect(throws: ServiceRefusal.noSuchEventSubscription) {
            try rig.registration.extend("e1", of: [], for: nil, at: rig.now)
        }
        #expect(rig.registration.isIdle)
    }

    @Test mutating func `so many subscriptions to events`() throws {
        for name in ["e1", "e2"] {
            _ = try rig.registration.subscribe(name, to: .messageSummary, of: [], for: nil, at: rig.now)
        }
        #expect(throws: ServiceRefusal.limitOfEventSubscriptions(2)) {
            try rig.registration.subscribe("e3", to: .messageSummary, of: [], for: nil, at: rig.now)
        }
    }

    // MARK: The next process

    @Test mutating func `what is watched outlives the process, and its time goes on`() throws {
        _ = try rig.registration.watch([Self.joe], at: rig.now)
        _ = try rig.registration.subscribe(
            "e1", to: .presence, of: [Self.joe, Self.bob], for: .seconds(200), at: rig.now
        )
        .actions.forEach { if case .store(let change) = $0 { rig.stored.append(change) } }
        guard case .service(.interests(let stored?, _)) = rig.stored.last else {
            Issue.record("the interests are not kept")
            return
        }
        #expect(stored.ends == [Self.joe: 42 + 200_000, Self.bob: 42 + 200_000])
        var next = RegistrationRig(.init(interests: .init(watchTime: .seconds(100))))
        next.epoch = 42 + 150_000
        try next.subscribe(services: ["Presence", "event:presence"])
        _ = try next.open(1, on: 1)
        next.registration.restore(stored, at: next.now)
        _ = next.advance(by: .zero)
        let report = PresenceReport(Self.joe, Self.busy)
        let told = next.registration.told(.presence(report), at: next.now).compactMap { action -> Notice? in
            if case .transmit(let frame, _) = action { frame.notice } else { nil }
        }
        #expect(told == [.service(.event(EventReport(report, to: "e1")))], "the watch was over meanwhile")
    }

    @Test mutating func `presence outlives the process as the subscriptions do`() throws {
        try rig.subscribe()
        let stored = StoredPresence(Self.busy)
        #expect(rig.registration.restore(stored, watchers: [Self.joe: 42 + 10_000], at: rig.now) == [])
        #expect(rig.registration.presenceReport.presence == Self.busy)
        _ = rig.advance(by: .seconds(9))
        #expect(try set(Presence(.open)) == [told(Self.joe, Presence(.open))])
        _ = rig.advance(by: .seconds(1))
        #expect(try set(Self.busy) == [])
    }

    @Test mutating func `who watches is told that the last subscription has ended meanwhile`() {
        let stored = StoredPresence(Self.busy)
        #expect(
            rig.note(rig.registration.restore(stored, watchers: [Self.joe: 42 + 10_000], at: rig.now))
                == [told(Self.joe, .absent)])
        #expect(rig.registration.presenceReport.presence == .absent)
        #expect(rig.stored == [.service(.presence(nil, of: RegistrationRig.user))])
    }

    // MARK: Calls

    private static let onThePhone = Presence(.open, .onThePhone)

    private mutating func call(_ session: SessionID, _ number: UInt64) -> [RegistrationAction] {
        _ = rig.registration.attach(session, to: LegAddress(call: CallID(number), leg: .caller))
        return rig.note(rig.registration.established(session))
    }

    private mutating func end(_ session: SessionID) -> [RegistrationAction] {
        rig.note(rig.registration.detach(session))
    }

    @Test mutating func `who watches hears of the first call and of the end of the last one`() throws {
        try rig.subscribe()
        _ = addWatcher(Self.joe)
        _ = rig.registration.attach("A1", to: LegAddress(call: CallID(1), leg: .caller))
        #expect(rig.registration.presenceReport.presence == .absent, "it rings")
        #expect(call("A1", 1) == [told(Self.joe, Self.onThePhone)])
        #expect(call("A2", 2) == [])
        // A leg that moves to another call, as in a conference, stays one.
        _ = rig.registration.attach("A1", to: LegAddress(call: CallID(3), leg: .callee))
        #expect(rig.registration.presenceReport.presence == Self.onThePhone)
        #expect(end("A1") == [])
        #expect(addWatcher(Self.bob) == [told(Self.bob, Self.onThePhone)])
        #expect(end("A2") == [told(Self.bob, .absent), told(Self.joe, .absent)])
        #expect(end("A2") == [])
    }

    @Test(arguments: [
        (Presence(.open, .active, note: "hi"), Presence(.open, .onThePhone, note: "hi")),
        (Presence(.open, .idle), Presence(.open, .onThePhone)), (Presence(.open), Presence(.open, .onThePhone)),
        (Presence(.closed), Presence(.closed)), (Presence(.closed, .active), Presence(.closed, .active)),
        (Presence(.open, .busy), Presence(.open, .busy)), (Presence(.open, .away), Presence(.open, .away)),
        (Presence(.open, .lunch), Presence(.open, .lunch)), (Presence(.open, .other), Presence(.open, .other)),
        (Presence(.open, .vacation, note: "sea"), Presence(.open, .vacation, note: "sea")),
    ])
    mutating func `some of what users say goes before the call`(_ said: Presence, _ shown: Presence) throws {
        try rig.subscribe()
        _ = try set(said)
        _ = addWatcher(Self.joe)
        #expect(call("A1", 1) == (shown == said ? [] : [told(Self.joe, shown)]))
        #expect(rig.registration.presenceReport.presence == shown)
        #expect(end("A1") == (shown == said ? [] : [told(Self.joe, said)]))
    }

    @Test mutating func `what the user says during a call holds after it`() throws {
        try rig.subscribe()
        _ = addWatcher(Self.joe)
        _ = call("A1", 1)
        #expect(try set(Presence(.open, .active)) == [])
        #expect(try set(Self.busy) == [told(Self.joe, Self.busy)])
        #expect(try set(Presence(.open, .idle)) == [told(Self.joe, Self.onThePhone)])
        #expect(end("A1") == [told(Self.joe, Presence(.open, .idle))])
    }

    @Test mutating func `a user without a subscription is absent, also with a call`() throws {
        try rig.subscribe()
        _ = addWatcher(Self.joe)
        _ = call("A1", 1)
        let left = rig.note(try rig.registration.unsubscribe("s1", at: rig.now))
        #expect(left.contains(told(Self.joe, .absent)))
        #expect(end("A1") == [])
    }

    @Test mutating func `the next process tells who was told of a call that it is over`() throws {
        try rig.subscribe()
        _ = try set(Presence(.open, .active))
        _ = call("A1", 1)
        #expect(
            rig.stored.last == .service(.presence(StoredPresence(Presence(.open, .active)), of: RegistrationRig.user)))
        _ = addWatcher(Self.joe)
        let kept = StoredPresence(Presence(.open, .active), isOnThePhone: true)
        #expect(rig.stored.last == .service(.presence(kept, of: RegistrationRig.user)))
        var next = RegistrationRig()
        try next.subscribe()
        #expect(
            next.note(next.registration.restore(kept, watchers: [Self.joe: 42 + 10_000], at: next.now))
                == [told(Self.joe, Presence(.open, .active))])
        #expect(
            next.stored.last == .service(.presence(StoredPresence(Presence(.open, .active)), of: RegistrationRig.user)),
            "the process after it does not tell again")
        _ = next.note(try next.registration.setPresence(Presence(.open), at: next.now))
        #expect(next.stored.last == .service(.presence(StoredPresence(Presence(.open)), of: RegistrationRig.user)))
    }
}
