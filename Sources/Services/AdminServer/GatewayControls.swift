package import Logging

/// What the administration interface asks of the gateway as a whole. Implemented by `Gateway`.
package protocol GatewayControls: Sendable {
    /// How the gateway is.
    func health() async -> GatewayHealth
    /// The limits in force.
    func limits() async -> [LimitInForce]
    /// The settings, with secrets redacted, in the order in which they are documented.
    var settings: [SettingInForce] { get }
    /// The least important events that are logged.
    var logLevel: Logger.Level { get }
    /// Changes the log level until the process ends.
    func setLogLevel(_ level: Logger.Level)
    /// Holds what is remembered of log-ins against the accounts again, since some have changed. Returns when no request
    /// that comes now is accepted for an account as it was before.
    func accountsChanged() async
    /// Reads the applications anew, since some have changed. Returns when calls are treated as they say.
    func applicationsChanged() async
    /// How far the drain is.
    var drainStep: DrainStep { get async }
    /// Starts the drain, after which the process ends. Returns at once. The second time it ends quickly.
    func startDrain() async
    /// Cancels the drain. When this returns, everything is served again.
    ///
    /// - Throws: `drain.not_started`, `drain.not_cancellable`.
    func cancelDrain() async throws(AdminError)
}

/// How far the drain is (docs/operations.md).
package enum DrainStep: String, Sendable, CaseIterable, Encodable {
    /// No drain.
    case serving
    /// Everything is served, but load balancers are told that clients should go elsewhere.
    case announcing
    /// No new work starts; calls go on.
    case waiting
    /// Calls are being ended, and clients told.
    case ending
    /// The ports close, and the process ends.
    case done
}

/// How the gateway is.
package struct GatewayHealth: Encodable, Equatable, Sendable {
    /// The version of the program.
    package var version: String
    /// When the process started, milliseconds since 1970.
    package var startedAt: Int64
    /// How far the drain is.
    package var drain: DrainStep
    /// What was looked at.
    package var checks: [Check]

    /// One thing that was looked at.
    package struct Check: Encodable, Equatable, Sendable {
        /// What it is, such as `database`.
        package var name: String
        /// Whether it is as it should be.
        package var isHealthy: Bool
        /// A sentence for people.
        package var detail: String

        /// Makes a check of its parts; each parameter is the property of that name.
        package init(_ name: String, isHealthy: Bool, _ detail: String) {
            self.name = name
            self.isHealthy = isHealthy
            self.detail = detail
        }

        private enum CodingKeys: String, CodingKey {
            case name, detail
            case isHealthy = "healthy"
        }
    }

    /// Makes a value of its parts; each parameter is the property of that name.
    package init(version: String, startedAt: Int64, drain: DrainStep, checks: [Check]) {
        self.version = version
        self.startedAt = startedAt
        self.drain = drain
        self.checks = checks
    }
}

/// A limit in force.
package struct LimitInForce: Encodable, Equatable, Sendable {
    /// The setting that it comes from, or what the system limits, such as `process.open_files`.
    package var name: String
    /// The limit.
    package var limit: Int
    /// How much of it is in use; `nil`: that is not counted.
    package var inUse: Int?

    /// Makes a value of its parts; each parameter is the property of that name.
    package init(_ name: String, _ limit: Int, inUse: Int? = nil) {
        self.name = name
        self.limit = limit
        self.inUse = inUse
    }
}

/// A setting in force.
package struct SettingInForce: Encodable, Equatable, Sendable {
    /// Section and name, such as `media.port`.
    package var name: String
    /// The value as it would stand in a YAML file; `‹redacted›` for a secret.
    package var value: String

    /// Makes a value of its parts; each parameter is the property of that name.
    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
