import Audio
import CallControl
import CallRuntime
import EventAPI
import Foundation
import Logging
import Observability
import Primitives
import RecordingServer
import Synchronization
import TestSupport
import Testing

/// A library over a folder of its own, and what it tells.
final class Rig {
    static let bot = ApplicationIdentity("bot#1")!
    static let address = UserAddress(parsing: "bot@example.com")!
    /// Of the call that is recorded.
    static let trace = TraceContext("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")!

    let folder: URL
    let repository = MemoryRecordings()
    let journal = PublishedEvents()
    let news = EndedRecordings()
    let metrics = GatewayMetrics(version: "test", startTime: 0)
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "recordings-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func library() throws -> RecordingLibrary { try library(folder: folder.path) }

    func library(folder: String?) throws -> RecordingLibrary {
        var configuration = RecordingConfiguration()
        configuration.folder = folder
        return try RecordingLibrary(
            configuration, repository: repository, journal: journal, clock: WallClock(),
            random: SeededRandomSource(seed: 1),
            metrics: metrics, logger: logger)
    }

    /// Runs a library, and ends it.
    func serve(_ test: (RecordingLibrary) async throws -> Void) async throws {
        let (library, news) = (try library(), self.news)
        let running = Task { await library.run(telling: news) }
        do {
            try await test(library)
        } catch {
            library.finish()
            await running.value
            throw error
        }
        library.finish()
        await running.value
    }

    func recording(_ number: Int, format: RecordRequest.Format = .ogg) throws -> Recording {
        Recording(
            RecordingID(number, of: SessionID("c1")), try RecordRequest(format: format, tag: "t"), of: Self.bot,
            at: Self.address, in: CallID(7), as: SessionID("c1"), time: 1, trace: Self.trace)
    }

    func url(of recording: Recording) -> URL { folder.appending(path: recording.fileName) }
    func file(of recording: Recording) throws -> [UInt8] { [UInt8](try Data(contentsOf: url(of: recording))) }

    /// Waits, for a minute at most: tests share the processors with others.
    func waits(until isTrue: () throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while try !isTrue() {
            guard ContinuousClock.now < end else {
                Issue.record("it never came")
                return
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// 20 ms of a tone of 1 kHz.
    static func tone(_ number: Int) -> [Int16] {
        (0..<960).map { Int16(8_000 * sin(2 * .pi * Double(number * 960 + $0) / 48)) }
    }

    /// How many samples of 48 kHz a file has.
    static func length(of file: [UInt8], _ format: RecordRequest.Format) throws -> Int {
        switch format {
        case .wav: try WaveFile(parsing: file.span).samples.count
        case .ogg: try OggOpusFile(parsing: file.span).sampleCount
        }
    }
}

/// Recordings in memory.
final class MemoryRecordings: RecordingRepository {
    private let state = Mutex((rows: [RecordingID: Recording](), surplus: Set<RecordingID>()))

    var rows: [RecordingID: Recording] { state.withLock { $0.rows } }
    func setSurplus(_ ids: Set<RecordingID>) { state.withLock { $0.surplus = ids } }

    func add(_ recording: Recording) async throws(StorageError) { state.withLock { $0.rows[recording.id] = recording } }
    func change(_ recording: Recording) async throws(StorageError) {
        state.withLock { if $0.rows[recording.id] != nil { $0.rows[recording.id] = recording } }
    }
    func remove(_ id: RecordingID) async throws(StorageError) { state.withLock { $0.rows[id] = nil } }
    func recording(_ id: RecordingID) async throws(StorageError) -> Recording? { rows[id] }
    func recordings(
        of application: ApplicationIdentity, _ filter: RecordingFilter, after place: RecordingPlace?, limit: Int
    ) async throws(StorageError) -> [Recording] { rows.values.filter { $0.application == application } }
    func unfinished() async throws(StorageError) -> [Recording] { rows.values.filter { $0.end == nil } }
    func surplus(endedBefore time: Int64, bytes: Int) async throws(StorageError) -> [Recording] {
        state.withLock { state in state.surplus.compactMap { state.rows[$0] } }
    }
}

/// Keeps what is published.
final class PublishedEvents: Journal {
    private let bodies = Mutex<[EventBody]>([])

    var types: [String] { bodies.withLock { $0.map(\.type) } }
    /// The traces of all, each once.
    var traces: Set<TraceContext?> { bodies.withLock { Set($0.map(\.traceparent)) } }
    func data(_ type: String, _ name: String) -> EventValue? {
        bodies.withLock { $0.last { $0.type == type }?.data[name] }
    }

    var isFailing: Bool { false }
    func append(_ entries: [JournalEntry]) {
        bodies.withLock { bodies in
            for case .published(let publication) in entries { bodies.append(publication.body) }
        }
    }
    func suspend() {}
    func resume() {}
    func whenDurable(_ action: @escaping @Sendable () -> Void) { action() }
    func durable() async throws(StorageError) {}
}

/// Keeps which recordings are over.
final class EndedRecordings: RecordingNews {
    private let state = Mutex<[Recording]>([])
    var ended: [Recording] { state.withLock { $0 } }
    func recordingEnded(_ recording: Recording) { state.withLock { $0.append(recording) } }
}

/// The clocks of this machine.
struct WallClock: RuntimeClock {
    private let start = ContinuousClock.now

    var now: MonotonicTime {
        MonotonicTime(nanoseconds: UInt64((ContinuousClock.now - start).wholeNanoseconds))
    }
    var epochMilliseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }
    func sleep(until time: MonotonicTime) async throws(CancellationError) {
        do {
            try await Task.sleep(for: max(.zero, time - now))
        } catch {
            throw CancellationError()
        }
    }
}
