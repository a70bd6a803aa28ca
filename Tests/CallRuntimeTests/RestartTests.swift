import CallControl
import CallRuntime
import CallSupport
import Primitives
import Registration
import SPiDR
import TestSupport
import Testing

/// What a process makes of what another one, which was killed, has left in the journal.
struct RestartTests {
    private static let (alice, bob, carol) = (RuntimeRig.alice, RuntimeRig.bob, RuntimeRig.carol)

    /// What a client read: everything that came on its sockets, without what it recognises as repeated.
    private func read(_ frames: [NotificationFrame]) -> [NotificationFrame] {
        var known: Set<UInt64> = []
        return frames.filter { known.insert($0.eventID).inserted }
    }

    /// One life of a gateway in which Alice calls Bob's two devices, one answers, she holds and hangs up, and he calls
    /// her. `marks`: how many entries the journal had when each frame was sent.
    private func firstLife(_ journal: RecordingJournal) async throws -> (grants: [SubscriptionGrant], Recorder) {
        var grants: [SubscriptionGrant] = []
        let rig = RuntimeRig(journal: journal)
        try await rig.serve { rig in
            for (socket, user) in [(1, Self.alice), (2, Self.bob), (3, Self.bob)] as [(UInt64, UserAddress)] {
                grants.append(try await rig.register(user, on: socket))
            }
            let session = try await rig.call()
            let incoming = try await rig.incoming(on: 3)
            try await rig.switchboard.answer(Self.bob, incoming, CallAnswerRequest(sdp: "answer"))
            await rig.wait { rig.recorder.trace(1).contains("respondCallUpdate") }
            try await rig.switchboard.offer(Self.alice, session, CallUpdateRequest(sdp: "hold"))
            await rig.wait { rig.recorder.trace(2).contains("startCallUpdate") }
            try await rig.switchboard.end(Self.alice, session, reasonText: nil)
            await rig.wait { rig.recorder.trace(3).contains("callEnd") }
            _ = try await rig.call(Self.alice, from: Self.bob, sdp: "back")
            _ = try await rig.incoming(on: 1)
            await rig.settle()
        }
        return (grants, rig.recorder)
    }

    /// The gateway is killed after each entry that it has written. The clients come back to their channels.
    @Test func `whenever the gateway is killed, each client is told everything once, in order`() async throws {
        let journal = RecordingJournal()
        let (grants, recorder) = try await firstLife(journal)
        let whole = (1...3 as ClosedRange<UInt64>).map { read(recorder.frames($0)) }
        #expect(whole.map(\.count).min()! >= 3)
        for count in 0...journal.entries.count {
            let left = journal.contents(after: count, at: ManualClock().epochMilliseconds)
            let second = RuntimeRig(journal: RecordingJournal(Array(journal.entries.prefix(count))), takesOver: true)
            await second.switchboard.restore(left)
            try await second.serve { rig in
                for (index, grant) in grants.enumerated() {
                    let user = index == 0 ? Self.alice : Self.bob
                    let socket = UInt64(index + 1)
                    let isThere = await rig.switchboard.channelOpened(
                        user, grant.channel, on: SocketID(socket), since: nil)
                    #expect(isThere == left.subscriptions.contains { $0.subscription.id == grant.subscription })
                }
                for (index, grant) in grants.enumerated() {
                    // What it had been sent before was durable before.
                    let mark = left.subscriptions.first { $0.subscription.id == grant.subscription }?.transmitted ?? 0
                    let before = whole[index].filter { $0.eventID <= mark }
                    func all() -> [NotificationFrame] { read(before + rig.recorder.frames(UInt64(index + 1))) }
                    await rig.wait { isWhole(all(), of: left, told: whole[index]) }
                    await rig.settle()
                    #expect(
                        isWhole(all(), of: left, told: whole[index]),
                        "client \(index + 1) after \(count) entries: \(all().map(\.notification.type))")
                }
                #expect(await rig.switchboard.callSessions(Self.alice).isEmpty)
            }
        }
    }

    /// Whether a client was told what it would have been told, up to a point, and then the end of each call that it
    /// knows.
    private func isWhole(
        _ all: [NotificationFrame], of left: JournalContents, told whole: [NotificationFrame]
    ) -> Bool {
        let numbers = all.map(\.eventID)
        guard numbers == numbers.sorted() else { return false }
        // Each event of a call that the journal has, and that was for this client, was told, and in its order.
        let known = Set(left.calls.joined().map(\.name))
        let due = whole.compactMap(\.event).filter { known.contains($0.name) }
        let events = all.compactMap(\.event)
        guard events.prefix(due.count).map(\.name) == due.map(\.name) else { return false }
        return Set(events.map(\.call)).allSatisfy { call in
            let ofCall = events.filter { $0.call == call }
            let ends = ofCall.count(where: \.isEnd)
            let session = ofCall.first?.event.audience?.session
            let isOver = left.calls.joined().contains {
                $0.call == call && $0.isEnd && $0.event.audience?.session == session
            }
            // The device that hangs up is not told.
            if isOver { return ofCall.map(\.name) == due.filter { $0.call == call }.map(\.name) }
            let hasStopped = ofCall.contains {
                if case .stoppedRinging(let reason, _) = $0.event.fact { reason != .answeredHere } else { false }
            }
            return ends == (hasStopped && ends == 0 ? 0 : 1) && (ends == 0 || ofCall.last?.isEnd == true)
        }
    }

    /// The device has another subscription, which the call that rings has not learnt when the gateway is killed.
    @Test func `a device that subscribed anew is told that its call is over`() async throws {
        let journal = RecordingJournal()
        try await RuntimeRig(journal: journal).serve { rig in
            try await rig.register(Self.alice, on: 1)
            _ = try await rig.switchboard.subscribe(
                Self.bob, SubscriptionRequest(services: ["call"], clientCorrelator: "phone"))
            _ = try await rig.call()
            await rig.settle()
            _ = try await rig.switchboard.subscribe(
                Self.bob, SubscriptionRequest(services: ["call"], clientCorrelator: "phone"))
            await rig.settle()
        }
        // The call's own fact about it was not written.
        let kept = journal.entries.prefix {
            if case .event(let entry) = $0, case .renewedSubscription = entry.event.fact { false } else { true }
        }
        let left = RecordingJournal(Array(kept)).contents(after: .max, at: ManualClock().epochMilliseconds)
        let second = RuntimeRig(journal: RecordingJournal(Array(kept)), takesOver: true)
        await second.switchboard.restore(left)
        try await second.serve { rig in
            let bobs = try #require(left.subscriptions.first { $0.subscription.user == Self.bob })
            #expect(
                await rig.switchboard.channelOpened(Self.bob, bobs.subscription.channel, on: SocketID(7), since: nil))
            await rig.wait { rig.recorder.trace(7).last == "callEnd" }
        }
    }

    @Test func `after a restart users are free, and can call each other`() async throws {
        let journal = RecordingJournal()
        let (grants, _) = try await firstLife(journal)
        let second = RuntimeRig(journal: RecordingJournal(journal.entries), takesOver: true)
        await second.switchboard.restore(journal.contents(after: .max, at: 0))
        try await second.serve { rig in
            for (index, grant) in grants.enumerated() {
                let user = index == 0 ? Self.alice : Self.bob
                #expect(
                    await rig.switchboard.channelOpened(
                        user, grant.channel, on: SocketID(UInt64(index + 1)), since: nil))
            }
            await rig.wait { rig.recorder.trace(2).last == "callEnd" }
            let records = try await rig.switchboard.callRecords(Self.bob, from: 0, count: 9)
            #expect(records.map(\.endedBy) == [.gateway])
            _ = try await rig.call(sdp: "again")
            await rig.wait { rig.recorder.trace(3).last == "call" }
            #expect(rig.recorder.frames(3).last?.notification.parties?.callerName == "Alice")
        }
    }

    @Test func `a guest may call its account after a restart, and nobody else`() async throws {
        let journal = RecordingJournal()
        var grant: SubscriptionGrant?
        try await RuntimeRig(journal: journal).serve { rig in
            try await rig.register(Self.alice, on: 1)
            grant = try await rig.switchboard.admit(
                SubscriptionRequest(services: ["callMe"]), toCall: Self.alice, from: nil)
        }
        let channel = try #require(grant?.channel)
        let guest = UserAddress(try #require(GuestID(owning: channel.rawValue)))
        let second = RuntimeRig(journal: RecordingJournal(journal.entries), takesOver: true)
        await second.switchboard.restore(journal.contents(after: .max, at: 0))
        try await second.serve { rig in
            #expect(await rig.switchboard.channelOpened(guest, channel, on: SocketID(2), since: nil))
            await #expect(throws: CallError.self) { try await rig.call(Self.bob, from: guest) }
            _ = try await rig.call(Self.alice, from: guest)
        }
    }

    @Test func `the subscriptions of a user who was removed meanwhile are over`() async throws {
        let journal = RecordingJournal()
        let stranger = UserAddress(parsing: "removed@example.com")!
        try await RuntimeRig(journal: journal).serve { rig in try await rig.register(stranger, on: 1) }
        let second = RuntimeRig(journal: journal, takesOver: true)
        let left = journal.contents(after: .max, at: 0)
        await second.switchboard.restore(left)
        try await second.serve { rig in
            let channel = try #require(left.subscriptions.first?.subscription.channel)
            #expect(await !rig.switchboard.channelExists(stranger, channel))
        }
        #expect(journal.contents(after: .max, at: 0).subscriptions.isEmpty)
    }
}

extension LoggedEvent {
    fileprivate var name: String { "\(call) \(sequence)" }
    fileprivate var isEnd: Bool { if case .released = event.fact { true } else { false } }
}

extension NotificationFrame {
    /// The event of a call that it tells; `nil`: it is about something else.
    fileprivate var event: LoggedEvent? { if case .call(let entry) = notice { entry } else { nil } }
}
