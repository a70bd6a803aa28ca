package import CallControl
package import CallRuntime
import Foundation
package import Logging
import Observability
import Synchronization

/// Appends the events of all calls to a file, one JSON object per line (docs/call-events.md). It works in the
/// background, so a slow disk delays no call.
///
/// It promises no durability. If the process is killed, or the disk is full or too slow, events are lost; their
/// `sequence` is then missing in the file.
package final class CallEventFile: CallEventLog {
    private struct Backlog {
        var events: [LoggedEvent] = []
        var lost = 0
    }

    private let file: FileHandle
    private let path: String
    private let logger: Logger
    private let unwritten = Mutex(Backlog())
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    /// How many events may wait for a disk that does not keep up; further ones are lost.
    private static var limit: Int { 100_000 }

    /// Opens the file for appending. If it does not exist it is created, readable by its owner only. ``run()`` writes
    /// to it.
    ///
    /// - Throws: `StorageError.failed` if the file cannot be created or opened.
    package init(_ path: String, logger: Logger) throws(StorageError) {
        let files = FileManager.default
        if !files.fileExists(atPath: path) {
            guard files.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]) else {
                throw .failed("\(path) cannot be made")
            }
        }
        do {
            file = try FileHandle(forWritingTo: URL(filePath: path))
        } catch {
            throw .failed("\(path) cannot be written")
        }
        self.path = path
        self.logger = logger
        (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Adds an event; see `CallEventLog`.
    package func add(_ event: LoggedEvent) {
        unwritten.withLock { backlog in
            if backlog.events.count < Self.limit { backlog.events.append(event) } else { backlog.lost += 1 }
        }
        wake.yield()
    }

    /// Writes until ``finish()``, and then what is left.
    package func run() async {
        for await _ in wakes { write() }
        write()
    }

    /// Lets ``run()`` write what is left and return.
    package func finish() { wake.finish() }

    private func write() {
        let batch = unwritten.withLock { backlog in
            defer { backlog = Backlog() }
            return backlog
        }
        if batch.lost > 0 { warn(lost: batch.lost, "the disk does not keep up") }
        if batch.events.isEmpty { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            var lines = Data()
            for event in batch.events {
                lines += try encoder.encode(event)
                lines.append(UInt8(ascii: "\n"))
            }
            // The file may have been cut meanwhile, to rotate it.
            try file.seekToEnd()
            try file.write(contentsOf: lines)
        } catch {
            // Calls go on.
            warn(lost: batch.events.count, "\(error)")
        }
    }

    private func warn(lost count: Int, _ reason: String) {
        logger.warning(
            "events of calls are lost",
            metadata: [LogKey.path: "\(path)", LogKey.count: "\(count)", LogKey.reason: "\(reason)"])
    }
}
