import CallControl
import CallRuntime
import Logging
import Observability
import Primitives
import Sockets

/// Encodes and writes what is recorded, on a thread of its own: a slow disk delays no audio.
///
/// A few seconds of each recording wait at most. A recording whose audio waits longer than that has failed.
final class RecordingWriter: AudioRecorder {
    /// What has happened to a recording.
    struct Report: Equatable, Sendable {
        let id: RecordingID
        let step: RecordingStep
        /// How much of it there is, in milliseconds.
        let milliseconds: Int
        /// How many bytes its file has.
        let bytes: Int
    }

    private enum Message: Sendable {
        case open(RecordingID, SendableBox<RecordingFile>)
        case samples(RecordingID, [Int16])
        case packets(RecordingID, [RecordedPacket])
        case step(RecordingID, RecordingStep)
        case discard(RecordingID)
    }

    private struct State: Sendable {
        var messages: [Message] = []
        /// How many times 20 ms of each recording wait. One that is not in it is over.
        var waiting: [RecordingID: Int] = [:]
        var isStopping = false
    }

    /// The most times 20 ms of one recording that wait: five seconds. Packets that come in one cycle count as that.
    static let patience = 250

    /// What happens to recordings, in the order of the audio of each. It ends after `stop`.
    let reports: AsyncStream<Report>
    private let report: AsyncStream<Report>.Continuation
    private let state = Lock(State())
    private let wakeUp: WakeUp
    private let metrics: GatewayMetrics
    private let logger: Logger
    private let thread = Lock<WorkerThread?>(nil)

    /// Starts the thread.
    ///
    /// - Throws: `SocketError` if it cannot be started.
    init(metrics: GatewayMetrics, logger: Logger) throws(SocketError) {
        (reports, report) = AsyncStream.makeStream()
        wakeUp = try WakeUp()
        self.metrics = metrics
        self.logger = logger
        let poller = SendableBox(PollerBox(try Poller(wakeUp: wakeUp)))
        let thread = try WorkerThread(name: "recordings") { [self] in run(poller.take()) }
        self.thread.withLock { $0 = thread }
    }

    /// Has what is given for a recording from now on written into a file.
    func open(_ id: RecordingID, _ file: RecordingFile) {
        let box = SendableBox(file)
        state.withLock { state in
            state.waiting[id] = 0
            state.messages.append(.open(id, box))
        }
        wakeUp.wake()
    }

    /// Forgets a recording that has not started.
    func discard(_ id: RecordingID) { post(.discard(id)) }

    func take(_ samples: [Int16], of recording: RecordingID) -> Bool {
        take(.samples(recording, samples), of: recording)
    }

    func take(_ packets: [RecordedPacket], of recording: RecordingID) -> Bool {
        take(.packets(recording, packets), of: recording)
    }

    /// Takes what comes of a recording in a cycle.
    private func take(_ message: Message, of recording: RecordingID) -> Bool {
        let isTaken = state.withLock { state in
            guard let count = state.waiting[recording], count < Self.patience else { return false }
            state.waiting[recording] = count + 1
            state.messages.append(message)
            return true
        }
        if isTaken { wakeUp.wake() }
        return isTaken
    }

    func note(_ step: RecordingStep, of recording: RecordingID) { post(.step(recording, step)) }

    func noteDropped(_ packets: Int) { metrics.recordingPacketsDropped.increment(by: UInt64(packets)) }

    /// Ends all recordings, and returns when they are written.
    func stop() {
        state.withLock { $0.isStopping = true }
        wakeUp.wake()
        thread.withLock { thread in
            defer { thread = nil }
            return thread
        }?.join()
    }

    private func post(_ message: Message) {
        state.withLock { $0.messages.append(message) }
        wakeUp.wake()
    }

    // MARK: The thread

    /// Hands the poller, which cannot be copied, to the thread.
    private final class PollerBox {
        var poller: Poller
        init(_ poller: consuming Poller) { self.poller = poller }
    }

    private func run(_ box: PollerBox) {
        var files: [RecordingID: RecordingFile] = [:]
        var isStopping = false
        while !isStopping {
            do throws(SocketError) {
                _ = try box.poller.wait(until: nil)
            } catch {
                logger.critical("recordings cannot be written", metadata: [LogKey.error: "\(error)"])
                isStopping = true
            }
            let (messages, stops) = state.withLock { state in
                defer { state.messages = [] }
                return (state.messages, state.isStopping)
            }
            isStopping = isStopping || stops
            for message in messages { handle(message, &files) }
        }
        for id in files.keys { end(id, .interrupted, &files) }
        report.finish()
    }

    private func handle(_ message: Message, _ files: inout [RecordingID: RecordingFile]) {
        switch message {
        case .open(let id, let box): files[id] = box.take()
        case .discard(let id):
            files[id] = nil
            state.withLock { $0.waiting[id] = nil }
        case .samples(let id, let samples):
            taken(id)
            attempt(id, &files) { try $0.add(samples) }
        case .packets(let id, let packets):
            taken(id)
            attempt(id, &files) { try $0.add(packets) }
        case .step(let id, .over(let end)): self.end(id, end, &files)
        case .step(let id, let step):
            if step == .paused { attempt(id, &files) { try $0.flush() } }
            guard let file = files[id] else { return }
            tell(id, step, file)
        }
    }

    private func taken(_ id: RecordingID) {
        state.withLock { state in
            if let count = state.waiting[id] { state.waiting[id] = count - 1 }
        }
    }

    /// Does something with a file. A recording whose file cannot be written is over.
    private func attempt(
        _ id: RecordingID, _ files: inout [RecordingID: RecordingFile], _ act: (RecordingFile) throws -> Void
    ) {
        guard let file = files[id] else { return }
        do {
            try act(file)
        } catch {
            fail(id, error, &files)
        }
    }

    private func end(_ id: RecordingID, _ end: RecordingEnd, _ files: inout [RecordingID: RecordingFile]) {
        guard let file = files[id] else { return }
        do {
            try file.finish()
        } catch {
            return fail(id, error, &files)
        }
        close(id, &files)
        tell(id, .over(end), file)
    }

    private func fail(_ id: RecordingID, _ error: any Error, _ files: inout [RecordingID: RecordingFile]) {
        guard let file = files[id] else { return }
        logger.warning("a recording cannot be written", metadata: [LogKey.error: "\(error)"])
        let milliseconds = file.giveUp()
        close(id, &files)
        report.yield(Report(id: id, step: .over(.failed), milliseconds: milliseconds, bytes: file.size))
    }

    private func close(_ id: RecordingID, _ files: inout [RecordingID: RecordingFile]) {
        files[id] = nil
        state.withLock { $0.waiting[id] = nil }
    }

    private func tell(_ id: RecordingID, _ step: RecordingStep, _ file: RecordingFile) {
        report.yield(Report(id: id, step: step, milliseconds: file.milliseconds, bytes: file.size))
    }
}
