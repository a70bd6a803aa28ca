package import CallControl
package import CallRuntime
import EventAPI
import Foundation
package import Logging
package import Observability
package import Primitives
import Sockets

/// Owns the recordings of all applications: their files, what is known of them, and the events about them.
///
/// A recording that goes on is in memory and in the database; how far it has come is written when it is over. One that
/// the process did not end is brought into order by the next process.
package actor RecordingLibrary: Recordings {
    private let configuration: RecordingConfiguration
    private let repository: any RecordingRepository
    private let journal: any Journal
    private let clock: any RuntimeClock
    private let metrics: GatewayMetrics
    private let logger: Logger
    private var random: any RandomSource
    /// `nil`: nothing is recorded here.
    private nonisolated let writer: RecordingWriter?
    /// The recordings that go on.
    private var live: [RecordingID: Recording] = [:]

    /// How often old recordings are looked for, at most.
    private static let longestInterval = Duration.seconds(60)

    /// Makes a library. `recover()` comes before anything is recorded, and `run(telling:)` reports what is.
    ///
    /// - Parameter random: names the streams in files.
    /// - Throws: `SocketError` if the thread that writes cannot be started.
    package init(
        _ configuration: RecordingConfiguration, repository: any RecordingRepository, journal: any Journal,
        clock: any RuntimeClock, random: some RandomSource, metrics: GatewayMetrics, logger: Logger
    ) throws {
        self.configuration = configuration
        self.repository = repository
        self.journal = journal
        self.clock = clock
        self.random = random
        self.metrics = metrics
        self.logger = logger
        writer = configuration.folder == nil ? nil : try RecordingWriter(metrics: metrics, logger: logger)
    }

    /// Takes the audio of recordings.
    package nonisolated var recorder: any AudioRecorder { writer ?? NoRecorder() as any AudioRecorder }

    /// Whether a folder is configured.
    package nonisolated var areProvided: Bool { writer != nil }

    // MARK: The life of the library

    /// Brings the recordings into order that another process has left, and tells that they are over.
    ///
    /// - Throws: `StorageError.failed` if the database cannot be read.
    package func recover() async throws(StorageError) {
        guard let folder = configuration.folder else { return }
        for recording in try await repository.unfinished() {
            var extent = RecordingRepair.Extent(milliseconds: 0, bytes: 0)
            do {
                extent = try RecordingRepair.repair(
                    path(of: recording, in: folder), format: recording.format, channels: recording.channels)
            } catch {
                warn("a recording of before cannot be repaired", error)
            }
            let ended = recording.ended(
                .interrupted, milliseconds: extent.milliseconds, bytes: extent.bytes, time: clock.epochMilliseconds)
            try await repository.change(ended)
            metrics.recordingsEnded[.interrupted].increment()
            publish(.stopped, ended)
        }
    }

    /// Reports what happens to recordings, and removes old ones, until ``finish()``.
    ///
    /// - Parameter news: is told of recordings that are over.
    package func run(telling news: any RecordingNews) async {
        guard let writer else { return }
        await withTaskGroup { group in
            group.addTask { await self.removeOldOnes() }
            for await report in writer.reports { await note(report, telling: news) }
            group.cancelAll()
        }
    }

    /// Ends all recordings, and lets ``run(telling:)`` return once they are reported. It waits for the disk.
    package nonisolated func finish() { writer?.stop() }

    private func note(_ report: RecordingWriter.Report, telling news: any RecordingNews) async {
        guard var recording = live[report.id] else { return }
        switch report.step {
        case .started: publish(.started, recording)
        case .paused:
            recording.state = .paused
            live[report.id] = recording
            publish(.paused, recording, milliseconds: report.milliseconds)
        case .resumed:
            recording.state = .recording
            live[report.id] = recording
            publish(.resumed, recording, milliseconds: report.milliseconds)
        case .over(let end):
            let ended = recording.ended(
                end, milliseconds: report.milliseconds, bytes: report.bytes, time: clock.epochMilliseconds)
            await keep(ended)
            live[report.id] = nil
            metrics.recordingsActive.decrement()
            metrics.recordingsEnded[end].increment()
            publish(.stopped, ended)
            news.recordingEnded(ended)
        }
    }

    private func keep(_ recording: Recording) async {
        do throws(StorageError) {
            try await repository.change(recording)
        } catch {
            // The next process finds it unfinished.
            warn("the end of a recording is not kept", error)
        }
    }

    private func publish(_ step: OtherEvent.RecordingStep, _ recording: Recording, milliseconds: Int? = nil) {
        let body = EventBody(
            .recording(step, recording, milliseconds: milliseconds), at: clock.epochMilliseconds,
            trace: recording.trace)
        journal.append(.published(Publication(body, of: .application(recording.application))))
    }

    // MARK: What owners ask for

    /// Makes the file of a recording, and keeps what is known of it.
    ///
    /// - Throws: `notProvided`, `unavailable`.
    package func open(_ recording: Recording) async throws(RecordingFault) {
        guard let writer, let folder = configuration.folder else { throw .notProvided }
        // What is known of a recording comes before its file: no file is there that nobody knows of.
        do throws(StorageError) {
            try await repository.add(recording)
        } catch {
            warn("a recording cannot be kept", error)
            throw .unavailable
        }
        live[recording.id] = recording
        metrics.recordingsActive.increment()
        do {
            writer.open(
                recording.id,
                try RecordingFile(
                    path(of: recording, in: folder), format: recording.format, channels: recording.channels,
                    serialNumber: random.nextUInt32()))
        } catch {
            warn("a recording cannot be started", error)
            await discard(recording.id)
            throw .unavailable
        }
    }

    /// Removes a recording that has not started.
    package func discard(_ id: RecordingID) async {
        guard let recording = live.removeValue(forKey: id) else { return }
        metrics.recordingsActive.decrement()
        writer?.discard(id)
        removeFile(of: recording)
        do throws(StorageError) {
            try await repository.remove(id)
        } catch {
            warn("a recording cannot be removed", error)
        }
    }

    // MARK: What applications ask for

    /// The recordings of an application; see `Recordings`.
    ///
    /// - Throws: `unavailable`.
    package func recordings(
        of application: ApplicationIdentity, _ filter: RecordingFilter, after place: RecordingPlace?, limit: Int
    ) async throws(RecordingFault) -> [Recording] {
        do throws(StorageError) {
            return try await repository.recordings(of: application, filter, after: place, limit: limit).map {
                live[$0.id] ?? $0
            }
        } catch {
            throw .unavailable
        }
    }

    /// A recording of an application.
    ///
    /// - Throws: `notFound`, `unavailable`.
    package func recording(
        _ id: RecordingID, of application: ApplicationIdentity
    ) async throws(RecordingFault) -> Recording {
        let found: Recording?
        do throws(StorageError) {
            found = try await repository.recording(id)
        } catch {
            throw .unavailable
        }
        guard let found, found.application == application else { throw .notFound }
        return live[id] ?? found
    }

    /// The file of a recording that is over.
    ///
    /// - Throws: `notFound`, `notEnded`, `unavailable`.
    package func audio(
        of id: RecordingID, of application: ApplicationIdentity
    ) async throws(RecordingFault) -> (recording: Recording, file: any RecordedFile) {
        let recording = try await recording(id, of: application)
        guard recording.state == .stopped else { throw .notEnded }
        guard let folder = configuration.folder,
            let file = StoredRecording(path(of: recording, in: folder))
        else { throw .notFound }
        return (recording, file)
    }

    /// Removes a recording that is over.
    ///
    /// - Throws: `notFound`, `notEnded`, `unavailable`.
    package func remove(
        _ id: RecordingID, of application: ApplicationIdentity
    ) async throws(RecordingFault) -> Recording {
        let recording = try await recording(id, of: application)
        guard recording.state == .stopped else { throw .notEnded }
        guard await remove(recording) else { throw .unavailable }
        return recording
    }

    // MARK: Removing

    /// Removes recordings that are too old or too many, again and again.
    private func removeOldOnes() async {
        let interval = max(.seconds(1), min(Self.longestInterval, configuration.age / 4))
        while !Task.isCancelled {
            do throws(StorageError) {
                let age = configuration.age.wholeNanoseconds / 1_000_000
                let old = try await repository.surplus(
                    endedBefore: clock.epochMilliseconds - age, bytes: configuration.bytes)
                for recording in old { _ = await remove(recording) }
            } catch {
                warn("old recordings cannot be looked for", error)
            }
            // Fails only if the task is cancelled.
            do { try await clock.sleep(until: clock.now + interval) } catch { return }
        }
    }

    /// Removes the file first: a file that nobody knows of would stay.
    private func remove(_ recording: Recording) async -> Bool {
        guard removeFile(of: recording) else { return false }
        do throws(StorageError) {
            try await repository.remove(recording.id)
            return true
        } catch {
            warn("a recording cannot be removed", error)
            return false
        }
    }

    @discardableResult
    private func removeFile(of recording: Recording) -> Bool {
        guard let folder = configuration.folder else { return false }
        do throws(SocketError) {
            try DurableFile.remove(path(of: recording, in: folder))
            return true
        } catch {
            warn("the file of a recording cannot be removed", error)
            return false
        }
    }

    private func path(of recording: Recording, in folder: String) -> String { "\(folder)/\(recording.fileName)" }

    private func warn(_ message: Logger.Message, _ error: any Error) {
        logger.warning(message, metadata: [LogKey.error: "\(error)"])
    }
}

/// A file that is read piece by piece.
private actor StoredRecording: RecordedFile {
    nonisolated let size: Int
    private let handle: FileHandle

    /// `nil`: it cannot be opened.
    init?(_ path: String) {
        do {
            handle = try FileHandle(forReadingFrom: URL(filePath: path))
            size = Int(try handle.seekToEnd())
        } catch {
            return nil
        }
    }

    func read(_ place: Range<Int>) -> [UInt8]? {
        do {
            try handle.seek(toOffset: UInt64(place.lowerBound))
            return [UInt8](try handle.read(upToCount: place.count) ?? Data())
        } catch {
            return nil
        }
    }
}
