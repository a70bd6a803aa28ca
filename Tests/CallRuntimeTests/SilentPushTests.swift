import CallControl
import CallRuntime
import CallSupport
import Primitives
import Registration
import TestSupport
import Testing

/// Silent pushes to Bob's phone, which is asleep (spidr-wire §11.2).
@Suite struct `Silent pushes of the runtime` {
    private let bob = RuntimeRig.bob
    private let journal = RecordingJournal()

    private func serve(
        asleep devices: [(PushDeviceID, String?)] = [("p1", "phone"), ("p2", "tablet")],
        _ test: (RuntimeRig) async throws -> Void
    ) async throws {
        let rig = RuntimeRig(journal: journal)
        rig.pushes.register(devices, of: bob, for: SilentPushUse.allCases)
        try await rig.serve(test)
    }

    /// Bob's phone subscribes and closes its channel.
    private func subscribe(_ rig: RuntimeRig) async throws -> SubscriptionGrant {
        let grant = try await rig.register(bob, on: 1, correlator: "phone", expires: .seconds(100))
        await rig.switchboard.channelClosed(bob, grant.channel, on: SocketID(1))
        return grant
    }

    private func advance(_ rig: RuntimeRig, by seconds: Int) async {
        await rig.settle()
        rig.clock.advance(by: .seconds(seconds))
        await rig.settle()
    }

    /// The pushes that were added to the journal in one step with an entry of this kind.
    private func kept(with isCause: (JournalEntry) -> Bool) -> [String] {
        let (entries, ends) = (journal.entries, journal.ends)
        return zip(ends, ends.dropFirst()).flatMap { start, end -> [String] in
            guard entries[start..<end].contains(where: isCause) else { return [] }
            return entries[start..<end].compactMap { if case .push(let push) = $0 { push.name } else { nil } }
        }
    }

    @Test func `a phone is reminded before its subscription ends, and told that it is gone`() async throws {
        try await serve { rig in
            let grant = try await subscribe(rig)
            let start = rig.clock.epochMilliseconds
            await advance(rig, by: 75)
            await rig.wait { rig.pushes.sent.count == 1 }
            #expect(rig.pushes.sent.map(\.occasion) == [.refresh] && rig.pushes.sent[0].device == "p1")
            #expect(rig.pushes.sent[0].madeAt == start + 75_000 && rig.pushes.sent[0].expiresAt == start + 105_000)
            await advance(rig, by: 30)
            await rig.wait { rig.pushes.sent.count == 2 }
            #expect(rig.pushes.sent.map(\.occasion) == [.refresh, .gone(grant.channel)])
            #expect(Set(rig.pushes.sent.map(\.name)).count == 2)
        }
        let names = kept { entry in
            switch entry {
            case .registration(.subscribed(let stored)): stored.reminder == nil
            case .registration(.unsubscribed): true
            default: false
            }
        }
        #expect(names.count == 2, "each is durable together with its cause")
    }

    @Test func `a subscription that an operator ends is told as gone, one that its client ends is not`() async throws {
        try await serve { rig in
            var grant = try await subscribe(rig)
            try await rig.switchboard.unsubscribe(bob, grant.subscription)
            await rig.settle()
            #expect(rig.pushes.sent.isEmpty)
            grant = try await subscribe(rig)
            #expect(await rig.switchboard.dismissSubscription(bob, grant.subscription))
            await rig.wait { !rig.pushes.sent.isEmpty }
            #expect(rig.pushes.sent.map(\.occasion) == [.gone(grant.channel)])
        }
    }

    @Test func `voice messages are told to devices that are asleep, also of a user who has no subscription`()
        async throws
    {
        let first = VoicemailCount(unheard: 1, heard: 0)
        let second = VoicemailCount(unheard: 2, heard: 0)
        try await serve { rig in
            try await rig.switchboard.setVoicemail(of: bob, to: first)
            await rig.wait { rig.pushes.sent.count == 2 }
            #expect(rig.pushes.sent.map(\.device) == ["p1", "p2"])
            #expect(rig.pushes.sent.allSatisfy { $0.occasion == .messageWaiting(first) && $0.user == bob })
            let grant = try await rig.register(bob, on: 1, correlator: "phone")
            // The same number is no news.
            try await rig.switchboard.setVoicemail(of: bob, to: first)
            try await rig.switchboard.setVoicemail(of: bob, to: second)
            await rig.wait { rig.pushes.sent.count == 3 }
            #expect(rig.pushes.sent.map(\.device) == ["p1", "p2", "p2"])
            await rig.switchboard.channelClosed(bob, grant.channel, on: SocketID(1))
            try await rig.switchboard.setVoicemail(of: bob, to: .empty)
            await rig.wait { rig.pushes.sent.count == 5 }
            #expect(rig.pushes.sent.map(\.device) == ["p1", "p2", "p2", "p1", "p2"])
            #expect(Set(rig.pushes.sent.map(\.name)).count == 5)
            try await rig.switchboard.unsubscribe(bob, grant.subscription)
        }
        let names = kept { if case .registration(.service(.settled)) = $0 { true } else { false } }
        #expect(names.count == 5, "each is durable together with its cause")
    }

    @Test func `what a process has not told of voice messages, the next one pushes`() async throws {
        let count = VoicemailCount(unheard: 3, heard: 0)
        let rig = RuntimeRig(journal: journal, takesOver: true)
        rig.pushes.register([("p1", "phone")], of: bob, for: [.messageWaiting])
        let owed = OwedMessage(number: 7, receiver: bob, message: .voicemail(count))
        let left = RecordingJournal([
            .registration(.service(.voicemail(count, of: bob))), .registration(.service(.owed(owed))),
        ])
        await rig.switchboard.restore(left.contents(after: 2, at: 0))
        try await rig.serve { rig in
            await rig.wait { !rig.pushes.sent.isEmpty }
            #expect(rig.pushes.sent.map(\.occasion) == [.messageWaiting(count)])
        }
    }
}
