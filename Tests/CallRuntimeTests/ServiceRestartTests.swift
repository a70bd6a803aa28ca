import CallControl
import CallRuntime
import Primitives
import Registration
import SPiDR
import Testing

/// What clients are told of messages, presence and voice mail by a process whose predecessor was killed.
struct ServiceRestartTests {
    private static let (alice, bob, carol) = (RuntimeRig.alice, RuntimeRig.bob, RuntimeRig.carol)
    private static let services = ["call", "IM", "Presence", "event:presence", "event:message-summary"]

    /// A device of the first life. It has the same socket in each life.
    private struct Client {
        var user: UserAddress
        var socket: UInt64
        var grant: SubscriptionGrant
    }

    /// One life of a gateway, and what its clients were told.
    private final class Life {
        let journal = RecordingJournal()
        var clients: [Client] = []
        var told: [[ServiceNotice]] = []
        /// For each request: how many entries the journal had when the request was decided, and how much each client
        /// had been told when nothing more happened.
        var steps: [(decided: Int, told: [Int])] = []
    }

    /// What a client read: everything that came on its sockets, without what it recognises as repeated.
    private func read(_ frames: [NotificationFrame]) -> [NotificationFrame] {
        var known: Set<UInt64> = []
        return frames.filter { known.insert($0.eventID).inserted }
    }

    private func services(_ frames: [NotificationFrame]) -> [ServiceNotice] {
        read(frames).compactMap { if case .service(let notice) = $0.notice { notice } else { nil } }
    }

    /// Lets the gateway come to rest.
    private func rest(_ rig: RuntimeRig, _ life: Life) async {
        var count = -1
        while count != life.journal.entries.count {
            count = life.journal.entries.count
            await rig.settle()
        }
    }

    private func register(_ user: UserAddress, on socket: UInt64, _ rig: RuntimeRig, _ life: Life) async throws {
        let grant = try await rig.register(user, on: socket, services: Self.services)
        life.clients.append(Client(user: user, socket: socket, grant: grant))
    }

    /// A request, and everything that it causes.
    ///
    /// - Parameter owners: how many owners decide. That of one owner is decided with the first entries, and what
    ///   several decide once all of them have.
    private func step(
        _ rig: RuntimeRig, _ life: Life, owners: Int = 1, _ request: () async throws -> Void
    ) async throws {
        let before = life.journal.entries.count
        try await request()
        let answered = life.journal.entries.count
        await rest(rig, life)
        let first = try #require(life.journal.ends.first { $0 > before })
        life.steps.append(
            (owners == 1 ? first : answered, life.clients.map { services(rig.recorder.frames($0.socket)).count }))
    }

    private func message(_ text: String, to receiver: UserAddress) -> MessageRequest {
        MessageRequest(receiver: receiver, text: text, type: "A2", charset: "UTF-8")
    }

    /// Starts the next process with what is left after so many entries, and opens the channels that there are.
    private func next(
        after count: Int, of entries: [JournalEntry], _ clients: [Client],
        _ body: (RuntimeRig, JournalContents, RecordingJournal) async throws -> Void
    ) async throws {
        let journal = RecordingJournal(Array(entries.prefix(count)))
        let left = journal.contents(after: count, at: ManualClock().epochMilliseconds)
        let rig = RuntimeRig(journal: journal, takesOver: true)
        await rig.switchboard.restore(left)
        try await rig.serve { rig in
            for client in clients {
                _ = await rig.switchboard.channelOpened(
                    client.user, client.grant.channel, on: SocketID(client.socket), since: nil)
            }
            await rig.settle()
            try await body(rig, left, journal)
        }
    }

    /// Alice watches, and messages go to and from Bob, who has two devices, and Carol, who comes late.
    private func firstLife() async throws -> Life {
        let life = Life()
        let rig = RuntimeRig(journal: life.journal)
        try await rig.serve { rig in
            let switchboard = rig.switchboard
            try await register(Self.alice, on: 1, rig, life)
            try await register(Self.bob, on: 2, rig, life)
            try await register(Self.bob, on: 3, rig, life)
            let nobody = UserAddress(parsing: "nobody@example.com")!
            try await step(rig, life, owners: 3) {
                _ = try await switchboard.watch([Self.bob, nobody, Self.carol], by: Self.alice)
            }
            try await step(rig, life, owners: 2) {
                _ = try await switchboard.subscribe(to: .presence, of: [Self.bob], for: nil, by: Self.alice)
            }
            for presence in [Presence(.open, .busy, note: "later"), Presence(.open, .away)] {
                try await step(rig, life) { try await switchboard.setPresence(presence, of: Self.bob) }
            }
            for text in ["1", "2"] {
                try await step(rig, life) {
                    _ = try await switchboard.send(message(text, to: Self.bob), by: Self.alice)
                }
                try await step(rig, life) {
                    _ = try await switchboard.send(message(text, to: Self.carol), by: Self.alice)
                }
            }
            try await step(rig, life) { _ = try await switchboard.send(message("3", to: Self.alice), by: Self.bob) }
            let count = VoicemailCount(unheard: 1, heard: 0)
            try await step(rig, life) { try await switchboard.setVoicemail(of: Self.bob, to: count) }
            try await step(rig, life, owners: 2) {
                _ = try await switchboard.subscribe(to: .messageSummary, of: [], for: nil, by: Self.bob)
            }
            try await step(rig, life) { try await switchboard.setVoicemail(of: Self.bob, to: .empty) }
            try await step(rig, life, owners: 2) { try await register(Self.carol, on: 4, rig, life) }
            try await step(rig, life) { try await switchboard.tellPresence(of: [Self.bob], to: Self.carol) }
            try await step(rig, life) { try await switchboard.setPresence(Presence(.open, .lunch), of: Self.carol) }
            try await step(rig, life) {
                try await switchboard.unsubscribe(Self.carol, life.clients[3].grant.subscription)
            }
            life.told = life.clients.map { services(rig.recorder.frames($0.socket)) }
        }
        return life
    }

    @Test func `whenever the gateway is killed, what services tell is told once, in order`() async throws {
        let life = try await firstLife()
        #expect(life.told.map(\.count) == [18, 7, 7, 3])
        let ends = life.journal.ends
        #expect(ends.count > 40)
        for count in ends {
            try await next(after: count, of: life.journal.entries, life.clients) { rig, left, _ in
                let due = life.steps.last { $0.decided <= count }?.told ?? []
                for (index, client) in life.clients.enumerated() {
                    guard
                        let kept = left.subscriptions.first(where: { $0.subscription.id == client.grant.subscription })
                    else { continue }
                    // What it had been sent before was durable before.
                    let known = kept.frames.filter { $0.eventID <= kept.transmitted }
                    let told = services(known + rig.recorder.frames(client.socket))
                    #expect(
                        told == Array(life.told[index].prefix(told.count)),
                        "client \(index + 1) after \(count) entries: doubled, or out of order")
                    let least = index < due.count ? due[index] : 0
                    #expect(told.count >= least, "client \(index + 1) after \(count) entries: lost")
                }
            }
        }
    }

    @Test func `nothing is owed once all is told, and the next process adds nothing`() async throws {
        let life = try await firstLife()
        let entries = life.journal.entries
        #expect(life.journal.contents(after: entries.count, at: 0).services.owed.isEmpty)
        // What is told to a user without any device is not owed either.
        let journal = RecordingJournal()
        try await RuntimeRig(journal: journal).serve { rig in
            _ = try await rig.switchboard.send(message("1", to: Self.bob), by: Self.carol)
            _ = try await rig.switchboard.watch([Self.bob], by: Self.carol)
            await rig.settle()
            let left = journal.contents(after: .max, at: 0).services
            #expect(left.owed.isEmpty && left.messages[Self.bob]?.count == 1)
            #expect(journal.entries.contains { if case .registration(.service(.owed)) = $0 { true } else { false } })
            rig.clock.advance(by: .seconds(4_000))
            await rig.settle()
            try await rig.register(Self.bob, on: 2, services: Self.services)
            await rig.settle()
        }
        // A process that is killed right after it has taken over leaves the same to the one after it.
        for count in life.journal.ends {
            try await next(after: count, of: entries, []) { _, _, second in
                let services = second.contents(after: .max, at: 0).services
                #expect(services.owed.isEmpty)
                let added = second.entries.count
                try await next(after: added, of: second.entries, []) { _, _, third in
                    #expect(third.entries.count == added)
                }
            }
        }
    }

    @Test func `what is decided while the owners are cut off is owed to the next process`() async throws {
        let journal = RecordingJournal()
        let rig = RuntimeRig(journal: journal)
        try await rig.serve { try await $0.register(Self.bob, on: 2, services: Self.services) }
        try await rig.switchboard.setVoicemail(of: Self.bob, to: VoicemailCount(unheard: 1, heard: 0))
        #expect(journal.contents(after: .max, at: 0).services.owed.map(\.receiver) == [Self.bob])
    }

    @Test func `whenever the gateway is killed, who watches a user with a call knows how it went on`() async throws {
        let life = Life()
        let active = Presence(.open, .active)
        let rig = RuntimeRig(journal: life.journal)
        var watched = 0
        try await rig.serve { rig in
            try await register(Self.alice, on: 1, rig, life)
            try await register(Self.bob, on: 2, rig, life)
            try await register(Self.carol, on: 3, rig, life)
            try await rig.switchboard.setPresence(active, of: Self.bob)
            _ = try await rig.switchboard.watch([Self.bob], by: Self.alice)
            watched = life.journal.entries.count
            let session = try await rig.call(from: Self.carol)
            let incoming = try await rig.incoming(on: 2)
            try await rig.switchboard.answer(Self.bob, incoming, CallAnswerRequest(sdp: "answer"))
            await rest(rig, life)
            try await rig.switchboard.end(Self.carol, session, reasonText: nil)
            await rest(rig, life)
            let reports = services(rig.recorder.frames(1))
            let expected = [active, Presence(.open, .onThePhone), active]
            #expect(reports == expected.map { .presence(PresenceReport(Self.bob, $0)) })
        }
        for count in life.journal.ends where count >= watched {
            try await next(after: count, of: life.journal.entries, life.clients) { rig, left, second in
                func reports(_ rig: RuntimeRig, _ left: JournalContents) -> [ServiceNotice] {
                    let kept = left.subscriptions.first { $0.subscription.user == Self.alice }
                    let known = kept?.frames.filter { $0.eventID <= kept?.transmitted ?? 0 } ?? []
                    return services(known + rig.recorder.frames(1))
                }
                let told = reports(rig, left)
                #expect(told.last == .presence(PresenceReport(Self.bob, active)), "after \(count) entries")
                #expect([1, 3].contains(told.count), "after \(count) entries: \(told)")
                let entries = second.entries
                try await next(after: entries.count, of: entries, life.clients) { rig, left, _ in
                    #expect(reports(rig, left) == told, "after \(count) entries, and again")
                }
            }
        }
    }
}
