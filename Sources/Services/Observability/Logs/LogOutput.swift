package import Logging

/// Where and how log lines are written; made once at start and passed on as a `Logger`, without global state.
package struct LogOutput: Equatable, Sendable {
    package enum Format: String, CaseIterable, Sendable {
        /// One readable line per event.
        case text
        /// One JSON object per line, for collectors.
        case json
    }

    package var level: Logger.Level
    package var format: Format

    package init(level: Logger.Level = .info, format: Format = .text) {
        self.level = level
        self.format = format
    }

    /// A logger that writes to standard error.
    package func makeLogger(label: String) -> Logger {
        var logger = Logger(label: label) { label in
            switch format {
            case .text: StreamLogHandler.standardError(label: label)
            case .json: JSONLinesLogHandler(label: label)
            }
        }
        logger.logLevel = level
        return logger
    }
}
