import Logging
import Sockets

/// Keeps the lines of a log: the message, and the metadata as `key=value`.
final class RecordingLog: Sendable {
    private let kept = Lock<[String]>([])

    /// The lines so far.
    var lines: [String] { kept.withLock { $0 } }

    /// A logger whose lines are kept here.
    var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    private struct Handler: LogHandler {
        let log: RecordingLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let facts = (event.metadata ?? [:]).map { "\($0)=\($1)" }.sorted()
            log.kept.withLock { $0.append(([event.message.description] + facts).joined(separator: " ")) }
        }
    }
}
