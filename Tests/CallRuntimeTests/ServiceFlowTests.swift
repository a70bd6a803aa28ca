import CallControl
import CallRuntime
import Primitives
import Registration
import SPiDR
import Testing

/// Messages, presence, voice mail and events between the owners of several users.
struct ServiceFlowTests {
    private static let (alice, bob, carol) = (RuntimeRig.alice, RuntimeRig.bob, RuntimeRig.carol)
    private static let services = ["call", "IM", "Presence", "event:presence", "event:message-summary"]

    private func rig(_ journal: RecordingJournal = RecordingJournal(), takesOver: Bool = false) -> RuntimeRig {
        RuntimeRig(journal: journal, takesOver: takesOver)
    }

    private func request(_ text: String = "hi", to receiver: UserAddress = bob) -> MessageRequest {
        MessageRequest(receiver: receiver, text: text, type: "A2", charset: "UTF-8")
    }

    private func told(_ rig: RuntimeRig, on socket: UInt64) -> [ServiceNotice] {
        rig.recorder.frames(socket).compactMap { if case .service(let notice) = $0.notice { notice } else { nil } }
    }

    /// The texts of messages on a socket.
    private func texts(_ rig: RuntimeRig, on socket: UInt64) -> [String] {
        told(rig, on: socket).compactMap { if case .message(let message) = $0 { message.text } else { nil } }
    }

    private func outcomes(_ rig: RuntimeRig, on socket: UInt64) -> [MessageResult.Outcome] {
        told(rig, on: socket).compactMap { if case .messageResult(let result) = $0 { result.outcome } else { nil } }
    }

    @Test func `a message reaches both devices, and the sender hears so`() async throws {
        try await rig().serve { rig in
            try await rig.register(Self.alice, on: 1, services: Self.services)
            try await rig.register(Self.bob, on: 2, services: Self.services)
            try await rig.register(Self.bob, on: 3, services: ["IM"])
            let name = try await rig.switchboard.send(request(), by: Self.alice)
            await rig.wait { !outcomes(rig, on: 1).isEmpty }
            for socket in [2, 3] as [UInt64] {
                guard case .message(let message) = try #require(told(rig, on: socket).first) else {
                    Issue.record("no message")
                    return
                }
                #expect(message.id == name && message.sender == Self.alice && message.senderName == "Alice")
            }
            #expect(
                told(rig, on: 1) == [
                    .messageResult(MessageResult(message: name, receiver: Self.bob, outcome: .delivered))
                ])
        }
    }

    @Test func `a message to nobody is refused, and so are too many`() async throws {
        var configuration = LocalSwitchboard.Configuration(media: .direct)
        configuration.registration.messages.rate = .init(burst: 2, interval: .seconds(1))
        try await RuntimeRig(configuration).serve { rig in
            let nobody = UserAddress(parsing: "nobody@example.com")!
            await #expect(throws: ServiceRefusal.unknownReceiver) {
                try await rig.switchboard.send(request(to: nobody), by: Self.alice)
            }
            _ = try await rig.switchboard.send(request(to: Self.carol), by: Self.alice)
            await #expect(throws: ServiceRefusal.tooManyMessages(retryAfter: .seconds(1))) {
                try await rig.switchboard.send(request(to: Self.carol), by: Self.alice)
            }
            try await rig.register(Self.carol, on: 3, services: ["IM"])
            await rig.wait { texts(rig, on: 3) == ["hi"] }
            rig.clock.advance(by: .seconds(10))
            await rig.settle()
        }
    }

    @Test func `all users together have so many messages kept`() async throws {
        var configuration = LocalSwitchboard.Configuration(media: .direct)
        configuration.maximumKeptMessages = 1
        try await RuntimeRig(configuration).serve { rig in
            _ = try await rig.switchboard.send(request(to: Self.carol), by: Self.alice)
            await #expect(throws: ServiceRefusal.inboxFull) {
                try await rig.switchboard.send(request(to: Self.bob), by: Self.alice)
            }
            try await rig.register(Self.carol, on: 3, services: ["IM"])
            await rig.wait { texts(rig, on: 3) == ["hi"] }
            _ = try await rig.switchboard.send(request(to: Self.bob), by: Self.alice)
            try await rig.register(Self.bob, on: 2, services: ["IM"])
            await rig.wait { texts(rig, on: 2) == ["hi"] }
            rig.clock.advance(by: .seconds(10))
            await rig.settle()
        }
    }

    @Test func `users who are away get their messages in order from the next process, once`() async throws {
        let journal = RecordingJournal()
        try await rig(journal).serve { rig in
            try await rig.register(Self.alice, on: 1, services: Self.services)
            for text in ["1", "2", "3"] { _ = try await rig.switchboard.send(request(text), by: Self.alice) }
            await rig.wait { outcomes(rig, on: 1) == [.kept, .kept, .kept] }
            try await rig.switchboard.setVoicemail(of: Self.bob, to: VoicemailCount(unheard: 1, heard: 0))
        }
        let left = journal.contents(after: journal.entries.count, at: ManualClock().epochMilliseconds)
        let second = rig(RecordingJournal(journal.entries), takesOver: true)
        await second.switchboard.restore(left)
        try await second.serve { rig in
            try await rig.register(Self.bob, on: 2, services: Self.services)
            try await rig.register(Self.bob, on: 3, services: Self.services)
            let alice = try #require(left.subscriptions.first).subscription
            #expect(await rig.switchboard.channelOpened(Self.alice, alice.channel, on: SocketID(1), since: nil))
            await rig.wait { texts(rig, on: 2).count == 3 }
            #expect(texts(rig, on: 2) == ["1", "2", "3"])
            // What the last process told is told again first.
            await rig.wait { outcomes(rig, on: 1).suffix(3) == [.delivered, .delivered, .delivered] }
            #expect(await rig.switchboard.voicemail(of: Self.bob) == VoicemailCount(unheard: 1, heard: 0))
        }
    }

    @Test func `who watches is told the presence at once, and when it changes or ends`() async throws {
        try await rig().serve { rig in
            try await rig.register(Self.alice, on: 1, services: Self.services)
            let bob = try await rig.register(Self.bob, on: 2, services: Self.services)
            let nobody = UserAddress(parsing: "nobody@example.com")!
            let grant = try await rig.switchboard.watch([Self.bob, nobody], by: Self.alice)
            #expect(grant == WatchGrant(.seconds(3_600)))
            let busy = Presence(.open, .busy, note: "later")
            try await rig.switchboard.setPresence(busy, of: Self.bob)
            try await rig.switchboard.unsubscribe(Self.bob, bob.subscription)
            await rig.wait { told(rig, on: 1).count == 4 }
            let reports = [(nobody, Presence.absent), (Self.bob, .absent), (Self.bob, busy), (Self.bob, .absent)]
            #expect(told(rig, on: 1) == reports.map { .presence(PresenceReport($0, $1)) })
            await rig.switchboard.stopWatching([Self.bob], by: Self.alice)
            try await rig.switchboard.tellPresence(of: [Self.bob], to: Self.alice)
            await rig.wait { told(rig, on: 1).count == 5 }
            rig.clock.advance(by: .seconds(10))
            await rig.settle()
        }
    }

    @Test func `only users of the own domain are watched`() async throws {
        try await rig().serve { rig in
            let eve = UserAddress(parsing: "eve@example.org")!
            await #expect(throws: ServiceRefusal.otherDomain(eve)) {
                try await rig.switchboard.watch([Self.bob, eve], by: Self.alice)
            }
            await #expect(throws: ServiceRefusal.otherDomain(eve)) {
                try await rig.switchboard.tellPresence(of: [eve], to: Self.alice)
            }
            await #expect(throws: ServiceRefusal.otherDomain(eve)) {
                try await rig.switchboard.subscribe(to: .presence, of: [eve], for: nil, by: Self.alice)
            }
        }
    }

    @Test func `a watch and the presence go on in the next process`() async throws {
        let journal = RecordingJournal()
        try await rig(journal).serve { rig in
            try await rig.register(Self.alice, on: 1, services: Self.services)
            try await rig.register(Self.bob, on: 2, services: Self.services)
            _ = try await rig.switchboard.watch([Self.bob], by: Self.alice)
            try await rig.switchboard.setPresence(Presence(.open, .away), of: Self.bob)
            await rig.wait { told(rig, on: 1).count == 2 }
        }
        let left = journal.contents(after: journal.entries.count, at: ManualClock().epochMilliseconds)
        let second = rig(RecordingJournal(journal.entries), takesOver: true)
        await second.switchboard.restore(left)
        try await second.serve { rig in
            let channel = try #require(left.subscriptions.first { $0.subscription.user == Self.alice }).subscription
            #expect(await rig.switchboard.channelOpened(Self.alice, channel.channel, on: SocketID(1), since: nil))
            try await rig.switchboard.setPresence(Presence(.open, .lunch), of: Self.bob)
            await rig.wait {
                told(rig, on: 1).last == .presence(PresenceReport(Self.bob, Presence(.open, .lunch)))
            }
            try await rig.switchboard.tellPresence(of: [Self.bob], to: Self.alice)
            await rig.settle()
        }
    }

    @Test func `voice mail is told when it changes, and to whom subscribes`() async throws {
        try await rig().serve { rig in
            try await rig.register(Self.bob, on: 2, services: Self.services)
            let count = VoicemailCount(unheard: 2, heard: 1)
            try await rig.switchboard.setVoicemail(of: Self.bob, to: count)
            try await rig.switchboard.setVoicemail(of: Self.bob, to: count)
            await rig.wait { told(rig, on: 2).count == 1 }
            let (id, grant) = try await rig.switchboard.subscribe(
                to: .messageSummary, of: [], for: .seconds(600), by: Self.bob)
            #expect(grant == WatchGrant(.seconds(600)))
            await rig.wait { told(rig, on: 2).count == 2 }
            try await rig.switchboard.setVoicemail(of: Self.bob, to: .empty)
            await rig.wait { told(rig, on: 2).count == 4 }
            #expect(
                told(rig, on: 2) == [
                    .voicemail(count), .event(EventReport(count, to: id)),
                    .voicemail(.empty), .event(EventReport(VoicemailCount.empty, to: id)),
                ])
            #expect(await rig.switchboard.voicemail(of: Self.bob) == .empty)
            let nobody = UserAddress(parsing: "nobody@example.com")!
            await #expect(throws: StorageError.noSuchUser(nobody)) {
                try await rig.switchboard.setVoicemail(of: nobody, to: count)
            }
            try await rig.switchboard.unsubscribe(event: id, by: Self.bob)
            await #expect(throws: ServiceRefusal.noSuchEventSubscription) {
                try await rig.switchboard.unsubscribe(event: id, by: Self.bob)
            }
        }
    }
}
