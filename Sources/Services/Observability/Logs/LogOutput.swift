package import Logging

/// How log lines are written. It is made once at the start and passed on as a `Logger`, without global state.
package struct LogOutput: Equatable, Sendable {
    /// The form of a line.
    package enum Format: String, CaseIterable, Sendable {
        /// One readable line per event.
        case text
        /// One JSON object per line, for collectors.
        case json
    }

    /// The least important level that is written.
    package var level: Logger.Level
    /// The form of a line.
    package var format: Format

    /// Makes an output of its parts; by default `info` and text.
    package init(level: Logger.Level = .info, format: Format = .text) {
        self.level = level
        self.format = format
    }

    /// A logger that writes to standard error.
    ///
    /// - Parameters:
    ///   - label: the name of the logger, which each line shows.
    ///   - levelSwitch: what decides about the level; `nil`: it stays at ``level``.
    package func makeLogger(label: String, levelSwitch: LogLevelSwitch? = nil) -> Logger {
        var logger = Logger(label: label) { label in
            let handler: any LogHandler =
                switch format {
                case .text: StreamLogHandler.standardError(label: label)
                case .json: JSONLinesLogHandler(label: label)
                }
            return levelSwitch.map { SwitchedLogHandler(handler, $0) } ?? handler
        }
        logger.logLevel = level
        return logger
    }
}
