import CallControl
import CallRuntime
import CallSupport
import Primitives
import Registration
import Sockets
import Testing

/// What every journal has to do, whatever engine it writes with. A driver passes if none of ``rules`` records an issue.
struct JournalConformance {
    /// A journal that is open, and how it ends.
    struct Opened: Sendable {
        var journal: any Journal
        /// The log of the journal's publications.
        var publicEvents: any PublicEvents
        /// The accounts, at the same place.
        var users: any UserRepository
        /// What another process would find now.
        var contents: @Sendable () async throws -> JournalContents
        /// How many events of calls the engine holds, also of those that have been over for long.
        var eventCount: @Sendable () async throws -> Int
        /// Removes what is old, as the driver does every few seconds by itself.
        var keepUp: @Sendable () async -> Void
        /// Makes the engine refuse what is written, as a full disk does, or take it again.
        var refuse: @Sendable (Bool) async throws -> Void
        /// Lets go of the file without a word to anybody, as if the process had been killed.
        var abandon: @Sendable () throws -> Void
    }

    /// How long a driver under test keeps what is over.
    static let limits = (
        notificationAge: Duration.seconds(120), callAge: Duration.seconds(300), callBytes: 11_000
    )

    /// What the journal takes for the time.
    let clock = FixedClock(Self.start + 100_000)
    /// Opens the journal at one place, with ``limits``; each time another process would.
    let openJournal: @Sendable (FixedClock) throws -> Opened

    func open() throws -> Opened { try openJournal(clock) }

    static let start: Int64 = 1_700_000_000_000

    static let alice = UserAddress(parsing: "alice@example.com")!
    static let call = CallID(0xFEDC_BA98_7654_3210)

    static func subscription(_ name: String = "s1", of user: UserAddress = alice) -> StoredSubscription {
        StoredSubscription(
            id: SubscriptionID(name), channel: ChannelID("c-\(name)"), user: user, clientCorrelator: "phone",
            sendsRingingFeedback: true, services: ["call", "Présence"], expiry: 1_700_000_600_000,
            reminder: 1_700_000_450_000, firstEventID: 1_000)
    }

    static func event(_ sequence: Int, _ fact: CallEvent.Fact = .alerted, told: Bool = true) -> LoggedEvent {
        let name = DisplayName(name: "Alice \"A\"", number: "alice@example.com")
        let audience = CallEvent.Audience(
            devices: ["s1"], session: "A", local: name, remote: .user(name), isCalled: false)
        return LoggedEvent(
            call: call, sequence: sequence, startedAt: 1_700_000_000_000, elapsed: .milliseconds(sequence),
            event: CallEvent(.caller, fact, to: told ? audience : nil))
    }

    static func frame(_ number: UInt64, _ notice: Notice, at time: Int64 = 1_700_000_000_000) -> NotificationFrame {
        NotificationFrame(eventID: number, time: time, user: alice, channel: ChannelID("c-s1"), notice: notice)
    }

    /// The rules, each with a short name.
    static let rules: [(String, @Sendable (Self) async throws -> Void)] = [
        ("nothing", { try await $0.`nothing was kept, nothing is found`() }),
        ("last state", { try await $0.`a subscription is found as it was last`() }),
        ("over", { try await $0.`a subscription that is over is not found, nor its notifications`() }),
        ("order", { try await $0.`notifications are found in order, with their events`() }),
        (
            "many at a time",
            { try await $0.`many notifications that are added together are found in order, each with what was sent`() }
        ),
        ("services", { try await $0.`what services have is found as it was last, and their notifications`() }),
        ("owed", { try await $0.`what is owed is found in order, and not what was told`() }),
        ("given up", { try await $0.`what was given up is not found, but how much it was`() }),
        (
            "guests",
            { try await $0.`a guest is found with the account and the network, and not without a subscription`() }
        ),
        ("used tokens", { try await $0.`a token that was used is found with its realm and its end`() }),
        ("calls", { try await $0.`the events of calls are found in order, of two runs apart`() }),
        ("together", { try await $0.`what is added while the journal is suspended is kept together, or not at all`() }),
        ("actions", { try await $0.`an action is carried out once what was added before is durable, in order`() }),
        (
            "refused",
            {
                try await $0
                    .`what the engine refuses is refused to the caller, and is all there in order once it is taken`()
            }
        ),
        (
            "never taken",
            { try await $0.`of what was never taken nothing is found, nor anything that came after it`() }
        ),
        (
            "age of notifications",
            {
                try await $0
                    .`notifications are removed with age, but no number is forgotten, and what was never sent is counted`()
            }
        ),
        ("age of calls", { try await $0.`calls that have ended are removed with age, and none that goes on`() }),
        (
            "bytes of calls",
            { try await $0.`calls that have ended take no more bytes than they may, and the oldest make room`() }
        ),
        ("age while refused", { try await $0.`while the engine refuses nothing ages`() }),
        ("clock", { try await $0.`a clock that is set ages nothing, and keeps nothing longer`() }),
        ("published", { try await $0.`a publication is read once it is durable, by this process and the next`() }),
        (
            "published together",
            { try await $0.`a publication that is refused is read by nobody, and once it is taken in its place`() }
        ),
        (
            "devices for push",
            { try await $0.`registrations for push are found as they were last, and end with the account`() }
        ),
        (
            "owed pushes",
            { try await $0.`pushes that are owed are found in order until they are settled, or the account is gone`() }
        ),
        (
            "presence of nobody",
            { try await $0.`the presence of a user who was removed is kept for those who were told it`() }
        ),
    ]

    // MARK: - What holds

    /// Adds entries, and finds what is left after the process has ended.
    private func left(of entries: [JournalEntry]) async throws -> JournalContents {
        let first = try open()
        _ = try await first.contents()
        for entry in entries { first.journal.append(entry) }
        try await first.journal.durable()
        try first.abandon()
        let second = try open()
        let contents = try await second.contents()
        try second.abandon()
        return contents
    }

    func `nothing was kept, nothing is found`() async throws {
        #expect(try await left(of: []) == JournalContents(stoppedAt: 0))
    }

    func `a subscription is found as it was last`() async throws {
        var later = Self.subscription()
        (later.expiry, later.services, later.reminder) = (1_700_009_000_000, ["call"], nil)
        let contents = try await left(of: [
            .registration(.subscribed(Self.subscription())), .registration(.transmitted("s1", through: 1_007)),
            .registration(.numbered("s1", 1_009)), .registration(.subscribed(later)),
        ])
        #expect(contents.subscriptions == [RestoredSubscription(later, transmitted: 1_007, numbered: 1_009)])
    }

    func `a subscription that is over is not found, nor its notifications`() async throws {
        let contents = try await left(of: [
            .registration(.subscribed(Self.subscription())), .event(Self.event(1)),
            .registration(.notified("s1", Self.frame(1_000, .call(Self.event(1))))), .registration(.unsubscribed("s1")),
            .registration(.notified("s1", Self.frame(1_001, .gone))),
        ])
        #expect(contents.subscriptions.isEmpty)
        #expect(contents.calls == [[Self.event(1)]])
    }

    func `notifications are found in order, with their events`() async throws {
        let content = CustomContent(parameters: [CustomParameter(name: "X-☎", value: "\"\\\r\n\u{0}")])
        let notices: [Notice] = [
            .call(Self.event(1, .offered(description: "v=0\r\n", content: content))), .ping,
            .call(Self.event(2)), .lost(3),
        ]
        let frames = notices.enumerated().map { Self.frame(1_000 + UInt64($0), $1) }
        let contents = try await left(
            of: [.registration(.subscribed(Self.subscription()))]
                + notices.compactMap { if case .call(let entry) = $0 { .event(entry) } else { nil } }
                + frames.map { .registration(.notified("s1", $0)) } + [
                    .registration(.transmitted("s1", through: 1_001))
                ])
        #expect(
            contents.subscriptions == [
                RestoredSubscription(Self.subscription(), frames: frames, transmitted: 1_001, numbered: 1_003)
            ])
    }

    func `many notifications that are added together are found in order, each with what was sent`() async throws {
        let first = try open()
        _ = try await first.contents()
        let names = ["s1", "s2", "s3"]
        let event = Self.event(1)
        var entries = names.map { JournalEntry.registration(.subscribed(Self.subscription($0))) } + [.event(event)]
        for number in UInt64(1_000)..<1_075 {
            for name in names {
                let frame = NotificationFrame(
                    eventID: number, time: Self.start, user: Self.alice, channel: ChannelID("c-\(name)"),
                    notice: number % 2 == 0 ? .call(event) : .lost(Int(number)))
                entries.append(.registration(.notified(SubscriptionID(name), frame)))
            }
        }
        // One was sent everything, one some of it, and one nothing.
        entries += [
            .registration(.transmitted("s1", through: 1_074)), .registration(.transmitted("s2", through: 1_010)),
        ]
        first.journal.append(entries)
        try await first.journal.durable()
        try first.abandon()
        let second = try open()
        let left = try await second.contents().subscriptions
        #expect(left.map(\.subscription.id.rawValue).sorted() == names)
        for restored in left {
            #expect(restored.frames.map(\.eventID) == [UInt64](1_000..<1_075))
            #expect(restored.frames.map(\.notice).prefix(2) == [.call(event), .lost(1_001)])
            #expect(restored.frames.allSatisfy { $0.channel.rawValue == "c-\(restored.subscription.id.rawValue)" })
        }
        let sent = Dictionary(uniqueKeysWithValues: left.map { ($0.subscription.id.rawValue, $0.transmitted) })
        #expect(sent == ["s1": 1_074, "s2": 1_010, "s3": 0])
        try second.abandon()
    }

    func `what services have is found as it was last, and their notifications`() async throws {
        let bob = UserAddress(parsing: "bob@example.com")!
        let messages = (1...3).map { number in
            InstantMessage(
                id: "m\(number)", sender: bob, senderName: "Bob \"B\"", text: "☎ \r\n\u{0}", type: "A2",
                charset: "UTF-8", time: 1_700_000_000_000)
        }
        let interests = StoredInterests(
            watched: [.init(bob, end: 1_700_000_900_000)],
            events: [.init(id: "e1", kind: .presence, users: [bob, Self.alice], end: 1_700_000_800_000)])
        let notices: [ServiceNotice] = [
            .message(messages[0]), .messageResult(MessageResult(message: "m9", receiver: bob, outcome: .kept)),
            .presence(PresenceReport(bob, Presence(.open, .onThePhone, note: "…"))),
            .voicemail(VoicemailCount(unheard: 1, heard: 2)), .event(EventReport(VoicemailCount.empty, to: "e1")),
        ]
        let frames = notices.enumerated().map { Self.frame(1_000 + UInt64($0), .service($1)) }
        let changes: [ServiceChange] =
            messages.map { .messageKept($0, for: Self.alice) } + [
                .messagesRemoved(["m2"], of: Self.alice), .messageKept(messages[0], for: bob),
                .messagesRemoved(["m1"], of: bob),
                .presence(StoredPresence(Presence(.open)), of: bob), .presence(nil, of: bob),
                .presence(StoredPresence(Presence(.open, .away)), of: Self.alice),
                .presence(StoredPresence(Presence(.open, .busy), isOnThePhone: true), of: Self.alice),
                .presence(StoredPresence(nil, isOnThePhone: true), of: bob),
                .interests(interests, of: Self.alice), .interests(interests, of: bob), .interests(nil, of: bob),
                .voicemail(VoicemailCount(unheard: 3, heard: 1), of: Self.alice),
                .voicemail(VoicemailCount(unheard: 2, heard: 2), of: Self.alice),
                .voicemail(VoicemailCount(unheard: 2, heard: 2), of: bob), .voicemail(.empty, of: bob),
            ]
        let contents = try await left(
            of: [.registration(.subscribed(Self.subscription()))]
                + frames.map { .registration(.notified("s1", $0)) } + changes.map { .registration(.service($0)) })
        #expect(contents.subscriptions.map(\.frames) == [frames])
        #expect(
            contents.services
                == StoredServices(
                    messages: [Self.alice: [messages[0], messages[2]]],
                    presence: [
                        Self.alice: StoredPresence(Presence(.open, .busy), isOnThePhone: true),
                        bob: StoredPresence(nil, isOnThePhone: true),
                    ],
                    interests: [Self.alice: interests],
                    voicemail: [Self.alice: VoicemailCount(unheard: 2, heard: 2)]))
    }

    func `what is owed is found in order, and not what was told`() async throws {
        let bob = UserAddress(parsing: "bob@example.com")!
        let report = PresenceReport(bob, Presence(.open, .busy, note: "☎ \"\u{0}"))
        let count = VoicemailCount(unheard: 1, heard: 2)
        let messages: [ServiceMessage] = [
            .messageResult(MessageResult(message: "m1", receiver: bob, outcome: .kept)), .presence(report),
            .askedPresence(report), .voicemail(count), .voicemailFor(event: "e1", count), .unwatched(by: bob),
        ]
        let owed = messages.enumerated().map { number, message in
            OwedMessage(number: UInt64(number + 1), receiver: Self.alice, message: message)
        }
        func change(_ change: ServiceChange) -> JournalEntry { .registration(.service(change)) }
        #expect(try await left(of: owed.map { change(.owed($0)) }).services.owed == owed)
        // Some are told at once, some later, and some by the process that finds them.
        let later = (7...9).map { OwedMessage(number: $0, receiver: bob, message: messages[0]) }
        #expect(
            try await left(
                of: [change(.settled([1, 3]))] + later.map { change(.owed($0)) } + [change(.settled([99, 8, 4]))]
            ).services.owed == [owed[1], owed[4], owed[5], later[0], later[2]])
        let opened = try open()
        _ = try await opened.contents()
        opened.journal.append(change(.owed(OwedMessage(number: 10, receiver: bob, message: messages[0]))))
        try await opened.journal.durable()
        opened.journal.append(change(.settled([10, 7, 9])))
        try await opened.journal.durable()
        try opened.abandon()
        #expect(try await left(of: [change(.settled([2, 5]))]).services.owed == [owed[5]])
    }

    func `what was given up is not found, but how much it was`() async throws {
        let frames = (0..<4).map { Self.frame(1_000 + UInt64($0), .ping) }
        let contents = try await left(
            of: [.registration(.subscribed(Self.subscription()))] + frames.map { .registration(.notified("s1", $0)) }
                + [
                    .registration(.forgotten("s1", through: 1_001, lost: 2))
                ])
        #expect(
            contents.subscriptions == [
                RestoredSubscription(Self.subscription(), frames: Array(frames[2...]), numbered: 1_003, lost: 2)
            ])
    }

    func `a guest is found with the account and the network, and not without a subscription`() async throws {
        var random = SystemRandom()
        let guests = (0..<3).map { _ in GuestID(random: &random) }
        let network = IPAddress("2001:db8::1").map { SourceNetwork($0) }
        let stored = guests.map { StoredGuest(guest: $0, account: Self.alice, network: network) }
        let subscriptions = guests.map { Self.subscription("\($0).s", of: UserAddress($0)) }
        let contents = try await left(
            of: stored.map { .guest($0) } + subscriptions.prefix(2).map { .registration(.subscribed($0)) } + [
                .registration(.unsubscribed(subscriptions[1].id))
            ])
        #expect(contents.guests == [stored[0]])
        #expect(contents.subscriptions.map(\.subscription) == [subscriptions[0]])
        #expect(contents.subscriptions.first?.subscription.user.guest == guests[0])
    }

    func `a token that was used is found with its realm and its end`() async throws {
        let tokens = [("shop", "1"), ("shop", "2 ☎"), ("desk", "1")].map { realm, name in
            UsedToken(realm: realm, identifier: name, expiresAt: 1_700_000_900_000)
        }
        #expect(
            Set(try await left(of: tokens.map { .tokenUsed($0) } + [.tokenUsed(tokens[0])]).usedTokens) == Set(tokens))
    }

    func `the events of calls are found in order, of two runs apart`() async throws {
        var other = Self.event(1, .held, told: false)
        other.startedAt += 1
        let end = Self.event(3, .ended(CallRecord(cause: .drained), by: nil, device: nil), told: false)
        let contents = try await left(of: [.event(Self.event(1)), .event(other), .event(Self.event(2)), .event(end)])
        #expect(contents.calls == [[Self.event(1), Self.event(2), end], [other]])
        #expect(contents.stoppedAt == 1_700_000_000_003)
    }

    func `what is added while the journal is suspended is kept together, or not at all`() async throws {
        for isResumed in [false, true] {
            let opened = try open()
            _ = try await opened.contents()
            let order = Order()
            opened.journal.suspend()
            opened.journal.append(.event(Self.event(1)))
            opened.journal.whenDurable { order.add(1) }
            opened.journal.append(.registration(.subscribed(Self.subscription())))
            #expect(order.numbers.isEmpty)
            if isResumed {
                opened.journal.resume()
                try await opened.journal.durable()
            }
            try opened.abandon()
            let next = try open()
            let contents = try await next.contents()
            #expect(contents.calls.count == (isResumed ? 1 : 0))
            #expect(contents.subscriptions.count == (isResumed ? 1 : 0))
            try next.abandon()
        }
    }

    func `an action is carried out once what was added before is durable, in order`() async throws {
        let opened = try open()
        _ = try await opened.contents()
        let order = Order()
        for number in 0..<200 {
            opened.journal.append(.registration(.subscribed(Self.subscription("s\(number)"))))
            opened.journal.whenDurable { order.add(number) }
        }
        try await opened.journal.durable()
        #expect(order.numbers == Array(0..<200))
        try opened.abandon()
        let next = try open()
        #expect(try await next.contents().subscriptions.count == 200)
        try next.abandon()
    }
}

// MARK: - Refused writes

extension JournalConformance {
    func `what the engine refuses is refused to the caller, and is all there in order once it is taken`() async throws {
        let opened = try open()
        _ = try await opened.contents()
        let order = Order()
        try await opened.refuse(true)
        opened.journal.append(.registration(.subscribed(Self.subscription())))
        opened.journal.whenDurable { order.add(1) }
        await #expect(throws: StorageError.self) { try await opened.journal.durable() }
        #expect(opened.journal.isFailing)
        opened.journal.append(.event(Self.event(1)))
        opened.journal.whenDurable { order.add(2) }
        await #expect(throws: StorageError.self, "at once") { try await opened.journal.durable() }
        opened.journal.append(.registration(.notified("s1", Self.frame(1_000, .call(Self.event(1))))))
        opened.journal.whenDurable { order.add(3) }
        #expect(order.numbers.isEmpty)
        try await opened.refuse(false)
        while opened.journal.isFailing { try await Task.sleep(for: .milliseconds(10)) }
        opened.journal.append(.registration(.transmitted("s1", through: 1_000)))
        opened.journal.whenDurable { order.add(4) }
        try await opened.journal.durable()
        #expect(order.numbers == [1, 2, 3, 4])
        try opened.abandon()
        let next = try open()
        let contents = try await next.contents()
        #expect(
            contents.subscriptions == [
                RestoredSubscription(
                    Self.subscription(), frames: [Self.frame(1_000, .call(Self.event(1)))], transmitted: 1_000,
                    numbered: 1_000)
            ])
        #expect(contents.calls == [[Self.event(1)]])
        try next.abandon()
    }

    func `of what was never taken nothing is found, nor anything that came after it`() async throws {
        let opened = try open()
        _ = try await opened.contents()
        opened.journal.append(.registration(.subscribed(Self.subscription())))
        try await opened.journal.durable()
        let order = Order()
        try await opened.refuse(true)
        opened.journal.append(.registration(.subscribed(Self.subscription("s2"))))
        opened.journal.whenDurable { order.add(1) }
        await #expect(throws: StorageError.self) { try await opened.journal.durable() }
        opened.journal.append(.registration(.unsubscribed("s1")))
        await #expect(throws: StorageError.self) { try await opened.journal.durable() }
        try opened.abandon()
        #expect(order.numbers.isEmpty)
        let next = try open()
        try await next.refuse(false)
        #expect(try await next.contents().subscriptions.map(\.subscription.id) == ["s1"])
        try next.abandon()
    }
}

// MARK: - Age

extension JournalConformance {
    /// A journal with a call that goes on and one that has ended, and two notifications, the first of them transmitted.
    private func openedWithSome() async throws -> Opened {
        let opened = try open()
        _ = try await opened.contents()
        opened.journal.append([
            .registration(.subscribed(Self.subscription())), .event(Self.event(1)), .event(ended(CallID(2))),
            .registration(.notified("s1", Self.frame(1_000, .ping))),
            .registration(.notified("s1", Self.frame(1_001, .call(Self.event(1))))),
            .registration(.transmitted("s1", through: 1_000)),
        ])
        try await opened.journal.durable()
        return opened
    }

    private func ended(_ call: CallID, at sequence: Int = 1) -> LoggedEvent {
        var event = Self.event(
            sequence, .ended(CallRecord(cause: .drained), by: nil, device: nil), told: false)
        event.call = call
        return event
    }

    /// Lets time pass until so long after the first event, in seconds.
    private func pass(to seconds: Int64, _ opened: Opened) async {
        clock.set(Self.start + seconds * 1_000)
        await opened.keepUp()
    }

    func `notifications are removed with age, but no number is forgotten, and what was never sent is counted`()
        async throws
    {
        let opened = try await openedWithSome()
        await pass(to: 119, opened)
        #expect(try await opened.contents().subscriptions.first?.frames.count == 2)
        await pass(to: 121, opened)
        let later = try #require(try await opened.contents().subscriptions.first)
        #expect(later == RestoredSubscription(Self.subscription(), transmitted: 1_000, numbered: 1_001, lost: 1))
        try opened.abandon()
        let next = try open()
        #expect(try await next.contents().subscriptions == [later])
        try next.abandon()
    }

    func `calls that have ended are removed with age, and none that goes on`() async throws {
        let opened = try await openedWithSome()
        let writtenAt = (clock.epochMilliseconds - Self.start) / 1_000
        await pass(to: writtenAt + 299, opened)
        #expect(try await opened.eventCount() == 2)
        await pass(to: writtenAt + 301, opened)
        #expect(try await opened.eventCount() == 1)
        await pass(to: 86_400, opened)
        #expect(try await opened.contents().calls == [[Self.event(1)]])
        try opened.abandon()
    }

    func `calls that have ended take no more bytes than they may, and the oldest make room`() async throws {
        let opened = try open()
        _ = try await opened.contents()
        // Each takes some 3,000 bytes, and each has a number of events of its own.
        for number in 1...6 {
            for event in 1...number {
                let text = String(repeating: "a", count: 2_400 / number)
                var offer = Self.event(event, .offered(description: text, content: .init()), told: false)
                offer.call = CallID(UInt64(number))
                opened.journal.append([.event(offer)])
            }
            opened.journal.append([.event(ended(CallID(UInt64(number)), at: number + 1))])
        }
        try await opened.journal.durable()
        await opened.keepUp()
        #expect(try await opened.eventCount() == 21 + 6, "somebody may be told of them still")
        clock.set(clock.epochMilliseconds + 121_000)
        await opened.keepUp()
        let left = try await opened.eventCount()
        // The last one, two, three, four or five calls.
        #expect([7, 13, 18, 22, 25].contains(left))
        try opened.abandon()
    }

    func `while the engine refuses nothing ages`() async throws {
        let opened = try await openedWithSome()
        try await opened.refuse(true)
        opened.journal.append(.registration(.subscribed(Self.subscription("s2"))))
        await #expect(throws: StorageError.self) { try await opened.journal.durable() }
        clock.set(Self.start + 121_000)
        await opened.keepUp()
        let kept = try await opened.contents().subscriptions
        #expect(kept.map { $0.frames.count } == [2], "it is not known yet which of them were sent")
        try await opened.refuse(false)
        while opened.journal.isFailing { try await Task.sleep(for: .milliseconds(10)) }
        await opened.keepUp()
        #expect(try await opened.contents().subscriptions.map { $0.frames.count } == [0, 0])
        try opened.abandon()
    }

    func `a clock that is set ages nothing, and keeps nothing longer`() async throws {
        let opened = try await openedWithSome()
        await opened.keepUp()
        func frames() async throws -> Int? { try await opened.contents().subscriptions.first?.frames.count }
        clock.step(by: 3_600_000)
        await opened.keepUp()
        #expect(try await frames() == 2)
        #expect(try await opened.eventCount() == 2)
        clock.step(by: -7_200_000)
        opened.journal.append(
            .registration(.notified("s1", Self.frame(1_002, .ping, at: clock.epochMilliseconds))))
        try await opened.journal.durable()
        await opened.keepUp()
        #expect(try await frames() == 3)
        #expect(try await opened.eventCount() == 2)
        clock.set(clock.epochMilliseconds + 301_000)
        await opened.keepUp()
        #expect(try await frames() == 0)
        #expect(try await opened.eventCount() == 1)
        try opened.abandon()
    }
}

/// Numbers as they came.
final class Order: Sendable {
    private let state = Lock<[Int]>([])
    var numbers: [Int] { state.withLock { $0 } }
    func add(_ number: Int) { state.withLock { $0.append(number) } }
}
