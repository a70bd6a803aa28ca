import CallControl
import CallRuntime
import CallSupport
import Logging
import Primitives
import Registration
import SDP
import SPiDR
import TestSupport
import Testing

/// A switchboard with recording ports on a clock of its own.
struct RuntimeRig: Sendable {
    static let alice = UserAddress(parsing: "alice@example.com")!
    static let bob = UserAddress(parsing: "bob@example.com")!
    static let carol = UserAddress(parsing: "carol@example.com")!

    let recorder = Recorder()
    let clock = ManualClock()
    let media: RecordingMedia
    let mediaEvents = MediaEventInbox()
    let observer = CountingObserver()
    let events = RecordingEvents()
    let pushes = RecordingPushes()
    let programs = RecordingConnector()
    let switchboard: LocalSwitchboard
    /// It ends calls that another process has started.
    private let takesOver: Bool

    init(
        _ configuration: LocalSwitchboard.Configuration = .init(media: .direct), storageIsBroken: Bool = false,
        applications: [RegisteredApplication] = [], seed: UInt64 = 1, journal: any Journal = VolatileJournal(),
        takesOver: Bool = false, confirms: Bool = true, recordings: any Recordings = NoRecordings()
    ) {
        self.takesOver = takesOver
        var configuration = configuration
        configuration.registration.closeDelay = .zero
        media = RecordingMedia(recorder: recorder)
        let users = [(Self.alice, "Alice"), (Self.bob, ""), (Self.carol, "Carol")].map { address, name in
            StoredUser(address: address, passwordRecord: "", displayName: name)
        }
        let channels = RecordingChannels(recorder: recorder)
        switchboard = LocalSwitchboard(
            configuration: configuration, users: FixedUsers(users: users, isBroken: storageIsBroken), media: media,
            mediaEvents: mediaEvents,
            channels: channels, push: pushes, recordings: recordings, streams: programs, applications: applications,
            eventLog: events,
            journal: journal, clock: clock,
            random: SeededRandomSource(seed: seed),
            observer: observer,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        if confirms { channels.confirm(to: switchboard) }
    }

    /// Runs the switchboard around a test, and sees that it comes to rest afterwards, and that the event log counts the
    /// same calls as were counted.
    func serve(_ test: (RuntimeRig) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await switchboard.run() }
            try await test(self)
            group.cancelAll()
            try await group.waitForAll()
        }
        #expect(clock.sleeperCount == 0, "nobody sleeps when all is over")
        guard !takesOver else { return }
        let replayed = CountingObserver()
        for measure in events.entries.compactMap(\.event.measure) { replayed.callMeasured(measure) }
        #expect(replayed.counts.calls == observer.counts.calls)
    }

    /// Subscribes a device and opens its socket.
    @discardableResult
    func register(
        _ user: UserAddress, on socket: UInt64, services: [String] = ["call"], feedback: Bool = false,
        correlator: String? = nil,
        expires: Duration? = nil
    ) async throws -> SubscriptionGrant {
        let request = SubscriptionRequest(
            expires: expires, services: services, sendsRingingFeedback: feedback, clientCorrelator: correlator)
        let grant = try await switchboard.subscribe(user, request)
        #expect(await switchboard.channelOpened(user, grant.channel, on: SocketID(socket), since: nil))
        return grant
    }

    func call(_ callee: UserAddress = bob, from caller: UserAddress = alice, sdp: String = "offer")
        async throws(CallError) -> SessionID
    {
        try await switchboard.startCall(caller, CallStartRequest(callee: callee, sdp: sdp))
    }

    /// The callee's `sessionData`, once the call has arrived there.
    func incoming(on socket: UInt64) async throws -> SessionID {
        await wait { recorder.frames(socket).contains { $0.notification.type == .call } }
        return try #require(recorder.frames(socket).last { $0.notification.type == .call }?.notification.session)
    }

    /// Waits for notifications on a socket, in exactly this order from the first on.
    func expect(_ types: [String], on socket: UInt64, _ location: SourceLocation = #_sourceLocation) async {
        await wait { recorder.trace(socket).count >= types.count }
        #expect(recorder.trace(socket) == types, sourceLocation: location)
    }

    /// Lets every task run that can. The short sleeps let go on a thread that the system has interrupted meanwhile.
    func settle() async {
        for _ in 0..<4 {
            for _ in 0..<50 { await Task.yield() }
            // Fails only if the test is cancelled.
            do { try await Task.sleep(for: .microseconds(250)) } catch { return }
        }
    }

    /// Gives the owners a turn until the condition holds, and gives up after a long while.
    func wait(until isDone: () -> Bool) async {
        for _ in 0..<300_000 {
            if isDone() { return }
            await Task.yield()
        }
        Issue.record("it never came: \(recorder.trace())")
    }
}
