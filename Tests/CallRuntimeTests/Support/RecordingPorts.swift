import CallControl
import CallRuntime
import CallSupport
import Primitives
import Registration
import SDP
import SPiDR
import Sockets

/// Everything the switchboard did to the outside, in the order it was done, and what the test itself noted in between.
final class Recorder: Sendable {
    enum Entry: Equatable, Sendable {
        case frame(NotificationFrame, SocketID)
        case close(SocketID, ChannelCloseCode)
        case media(MediaCommand, CallID)
        case note(String)
    }

    private let log = Lock<[Entry]>([])

    var entries: [Entry] { log.withLock { $0 } }

    func record(_ entry: Entry) { log.withLock { $0.append(entry) } }

    /// Everything that went to one socket: types of notifications, close codes, and the test's notes.
    func trace(_ socket: UInt64? = nil) -> [String] {
        entries.compactMap { entry in
            switch entry {
            case .frame(let frame, let to):
                socket == nil || to.rawValue == socket ? frame.notification.type.rawValue : nil
            case .close(let to, let code): socket == nil || to.rawValue == socket ? "close \(code.rawValue)" : nil
            case .media: nil
            case .note(let text): text
            }
        }
    }

    func frames(_ socket: UInt64) -> [NotificationFrame] {
        entries.compactMap { entry in
            if case .frame(let frame, SocketID(socket)) = entry { frame } else { nil }
        }
    }

    var mediaCommands: [MediaCommand] {
        entries.compactMap { if case .media(let command, _) = $0 { command } else { nil } }
    }
}

/// Clients that read everything, and confirm it at once.
final class RecordingChannels: ChannelPort {
    let recorder: Recorder
    private let registrar = Lock<(any Registrar)?>(nil)

    init(recorder: Recorder) { self.recorder = recorder }

    /// From now on this registrar is told what the clients have received.
    func confirm(to registrar: any Registrar) { self.registrar.withLock { $0 = registrar } }

    func transmission(of frames: [AddressedFrame]) -> @Sendable () -> Void {
        { [self] in
            for addressed in frames {
                let frame = addressed.frame
                recorder.record(.frame(frame, addressed.socket))
                registrar.withLock { $0 }?.channelConfirmed(frame.user, frame.channel, through: frame.eventID)
            }
        }
    }

    func close(_ socket: SocketID, _ code: ChannelCloseCode) { recorder.record(.close(socket, code)) }
}

final class RecordingMedia: MediaPort {
    let recorder: Recorder
    private let state = Lock(
        (
            isFull: false, lastCall: CallID?.none, loadCount: 0, fetched: [[String]](),
            streams: [StreamID: MediaStream]()
        ))

    /// Those who wait for a file; `nil`: nobody has to.
    private let waiting = Lock<[CheckedContinuation<Void, Never>]?>(nil)

    init(recorder: Recorder) { self.recorder = recorder }

    /// Lets whoever asks for a file wait until `releaseFiles`.
    func holdFiles() { waiting.withLock { $0 = [] } }

    /// Lets nobody wait for a file any more.
    func releaseFiles() {
        let released = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting ?? []
        }
        for continuation in released { continuation.resume() }
    }

    var isFull: Bool {
        get { state.withLock { $0.isFull } }
        set { state.withLock { $0.isFull = newValue } }
    }

    /// How often a file, or the URLs of a list, were asked for.
    var loadCount: Int { state.withLock { $0.loadCount } }

    /// The URLs that were asked for together, behind the name of the application.
    var fetched: [[String]] { state.withLock { $0.fetched } }

    var lastCall: CallID? { state.withLock { $0.lastCall } }

    func identifier(_ random: UInt64, near other: CallID?) -> CallID { CallID(random) }

    func reserve(_ call: CallID, isNew: Bool) throws(MediaUnavailable) -> MediaReservation {
        let isFull = state.withLock { state in
            state.lastCall = call
            return state.isFull
        }
        guard !isFull else { throw .full }
        return MediaReservation(
            candidates: ["1 1 udp 2130706431 192.0.2.1 7000 typ host"],
            fingerprint: Fingerprint(.sha256, digest: [UInt8](repeating: 9, count: 32)))
    }

    func send(_ command: MediaCommand, for call: CallID) { recorder.record(.media(command, call)) }

    func load(file: String) async throws(MediaFileError) {
        state.withLock { $0.loadCount += 1 }
        await withCheckedContinuation { continuation in
            let waits = waiting.withLock { waiting in
                waiting?.append(continuation)
                return waiting != nil
            }
            if !waits { continuation.resume() }
        }
        guard file == "welcome.wav" else { throw .notFound(file) }
    }

    func load(urls: [String], for application: ApplicationName) async throws(MediaFileError) {
        state.withLock { state in
            state.loadCount += 1
            state.fetched.append([application.description] + urls)
        }
        for url in urls {
            if url.hasSuffix("?long") { throw .undecodable(url, .tooLong(minutes: 10)) }
            guard url.hasPrefix("https://sounds.example.com/"), url.hasSuffix(".wav") else {
                throw .notFetched(url, .status(404))
            }
        }
    }

    func add(_ stream: MediaStream, as name: StreamID) { state.withLock { $0.streams[name] = stream } }

    func remove(_ stream: StreamID) { state.withLock { $0.streams[stream] = nil } }

    /// The streams that were added and not removed.
    var streams: [StreamID: MediaStream] { state.withLock { $0.streams } }

    func statistics(of call: CallID) async -> CallMediaStatistics? {
        guard call == lastCall else { return nil }
        return CallMediaStatistics(
            legs: [LegID.caller, .callee].map { LegMediaStatistics(leg: $0, lines: [], drops: [:]) })
    }
}

/// Users that are there from the start.
struct FixedUsers: UserRepository {
    var users: [StoredUser]
    var isBroken = false

    func user(_ address: UserAddress) async throws(StorageError) -> StoredUser? {
        guard !isBroken else { throw .failed("the disk is on fire") }
        return users.first { $0.address == address }
    }

    func user(named name: AuthName) async throws(StorageError) -> StoredUser? { users.first { $0.authName == name } }
    func setAuthName(_ name: AuthName?, of address: UserAddress) async throws(StorageError) {
        throw .noSuchUser(address)
    }
    func search(_ query: DirectoryQuery, limit: Int) async throws(StorageError) -> [StoredUser] {
        Array(try await allUsers().filter(query.finds).prefix(limit))
    }

    func identities() async throws(StorageError) -> [UserAddress: AccountIdentity] {
        Dictionary(try await allUsers().map { ($0.address, $0.identity) }) { first, _ in first }
    }

    func allUsers() async throws(StorageError) -> [StoredUser] { users }
    func add(_ user: StoredUser) async throws(StorageError) { throw .userExists(user.address) }
    func setPassword(_ record: String, of address: UserAddress) async throws(StorageError) {
        throw .noSuchUser(address)
    }
    func upgradePassword(from old: String, to new: String, of address: UserAddress) async throws(StorageError) -> Bool {
        false
    }
    func remove(_ address: UserAddress) async throws(StorageError) { throw .noSuchUser(address) }
}

/// An event log in memory.
final class RecordingEvents: CallEventLog {
    private let log = Lock<[LoggedEvent]>([])
    var entries: [LoggedEvent] { log.withLock { $0 } }
    func add(_ event: LoggedEvent) { log.withLock { $0.append(event) } }
}

/// Counts what operators would see.
final class CountingObserver: RuntimeObserver {
    struct Counts: Equatable, Sendable {
        var started = 0
        var setups: [Duration] = []
        var ended: [CallRecord] = []
        var refused: [CallRefusal] = []
        /// Limits because of which devices slept on.
        var asleep: [WakeRefusal] = []
        /// Devices that were woken, that came back, and that had not come back in time.
        var wakes = [0, 0, 0]
        /// Devices that could not be woken.
        var failedWakes = 0
        /// Requests, each with what became of it.
        var requests: [String] = []
        var subscriptions = 0
        var sent = 0
        var replayed = 0
        var discarded = 0

        /// What concerns calls. The order of different calls is left to chance.
        var calls: [String] {
            ["started \(started)"] + setups.map { "answered \($0)" }.sorted() + ended.map { "ended \($0)" }.sorted()
        }
    }

    private let state = Lock(Counts())
    var counts: Counts { state.withLock { $0 } }

    func callMeasured(_ measure: CallMeasure) {
        state.withLock { counts in
            switch measure {
            case .started: counts.started += 1
            case .answered(let setup): counts.setups.append(setup)
            case .ended(let record): counts.ended.append(record)
            case .woken(let count): counts.wakes[0] += count
            case .awoke: counts.wakes[1] += 1
            case .notWoken: counts.failedWakes += 1
            case .missed(let count): counts.wakes[2] += count
            }
        }
    }
    func callRequested(_ request: CallRequest.Kind, _ outcome: CallRequest.Outcome) {
        state.withLock { $0.requests.append("\(request.rawValue) \(outcome.rawValue)") }
    }
    func callRefused(_ reason: CallRefusal) { state.withLock { $0.refused.append(reason) } }
    func wakeRefused(_ reason: WakeRefusal) { state.withLock { $0.asleep.append(reason) } }
    func subscriptionsChanged(by difference: Int) { state.withLock { $0.subscriptions += difference } }
    func notificationSent() { state.withLock { $0.sent += 1 } }
    func notificationReplayed() { state.withLock { $0.replayed += 1 } }
    func notificationsDiscarded(_ count: Int) { state.withLock { $0.discarded += count } }
}

/// Devices that can be woken, and the pushes that they are owed.
final class RecordingPushes: PushPort {
    private struct State: Sendable {
        var devices: [UserAddress: [SleepingDevice]] = [:]
        var accounts: [UserAddress: AccountIdentity] = [:]
        var silent: [UserAddress: [SilentPushUse: [SleepingDevice]]] = [:]
        var sent: [OwedPush] = []
        var withdrawn: [String] = []
    }

    private let state = Lock(State())

    /// What was sent, in order.
    var sent: [OwedPush] { state.withLock { $0.sent } }

    func devices(of user: UserAddress, account: AccountIdentity?) -> [SleepingDevice] {
        state.withLock { state in
            if let account, let owner = state.accounts[user], owner != account { return [] }
            return state.devices[user] ?? []
        }
    }
    func devices(of user: UserAddress, account: AccountIdentity?, forSilent use: SilentPushUse) -> [SleepingDevice] {
        state.withLock { $0.silent[user]?[use] ?? [] }
    }
    func send(_ pushes: [OwedPush]) { state.withLock { $0.sent += pushes } }
    func withdraw(_ session: SessionID, from device: PushDeviceID?) {
        state.withLock { $0.withdrawn.append("\(session.rawValue) \(device?.rawValue ?? "all")") }
    }

    /// The sessions and devices whose pushes were withdrawn, in order.
    var withdrawn: [String] { state.withLock { $0.withdrawn } }

    /// Registers devices, each with its name for itself, in place of those that the user had.
    ///
    /// - Parameter account: the account that they are of; `nil`: any of this address.
    func register(_ devices: [(PushDeviceID, String?)], of user: UserAddress, account: AccountIdentity? = nil) {
        let devices = devices.map { SleepingDevice($0, clientCorrelator: $1) }
        state.withLock { state in
            state.devices[user] = devices
            state.accounts[user] = account
        }
    }

    /// The same for silent pushes of these kinds.
    func register(_ devices: [(PushDeviceID, String?)], of user: UserAddress, for uses: [SilentPushUse]) {
        let devices = devices.map { SleepingDevice($0, clientCorrelator: $1) }
        state.withLock { state in for use in uses { state.silent[user, default: [:]][use] = devices } }
    }
}
