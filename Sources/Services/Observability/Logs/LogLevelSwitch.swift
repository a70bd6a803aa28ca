package import Logging
import Synchronization

/// The least important level that is logged, which can be changed while the process runs. It reaches all loggers that
/// ``LogOutput`` has made with it, and their copies.
package final class LogLevelSwitch: Sendable {
    private let current: Mutex<Logger.Level>

    /// Makes a switch that stands at a level.
    package init(_ level: Logger.Level) { current = Mutex(level) }

    /// The level at present.
    package var level: Logger.Level { current.withLock { $0 } }

    /// Changes the level.
    package func set(_ level: Logger.Level) { current.withLock { $0 = level } }
}

/// A handler whose level is that of a ``LogLevelSwitch``; a level that is set on the logger itself has no effect.
struct SwitchedLogHandler: LogHandler {
    var handler: any LogHandler
    let levelSwitch: LogLevelSwitch

    init(_ handler: any LogHandler, _ levelSwitch: LogLevelSwitch) {
        self.levelSwitch = levelSwitch
        self.handler = handler
        // What passes the switch is written.
        self.handler.logLevel = .trace
    }

    var logLevel: Logger.Level {
        get { levelSwitch.level }
        set {}
    }

    var metadata: Logger.Metadata {
        get { handler.metadata }
        set { handler.metadata = newValue }
    }

    var metadataProvider: Logger.MetadataProvider? {
        get { handler.metadataProvider }
        set { handler.metadataProvider = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { handler[metadataKey: key] }
        set { handler[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) { handler.log(event: event) }
}
