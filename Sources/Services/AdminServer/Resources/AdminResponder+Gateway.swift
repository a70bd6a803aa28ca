import CallRuntime
import GatewayAPI
import Logging

/// The gateway as a whole: log level and drain.
extension AdminResponder {
    func setLogLevel(_ call: Call) throws(AdminError) -> AdminAnswer {
        let text = try BodyFields(parsing: call.body, known: ["level"]).requiredText("level")
        guard let level = Logger.Level(rawValue: text) else {
            let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw AdminError(.requestInvalidValue, "The field \"level\" must be one of \(levels).")
        }
        controls.setLogLevel(level)
        return .json(LogLevelField(controls.logLevel))
    }

    func startDrain() async -> AdminAnswer {
        await controls.startDrain()
        return .json(DrainField(step: await controls.drainStep), status: 202)
    }

    func cancelDrain() async throws(AdminError) -> AdminAnswer {
        try await controls.cancelDrain()
        return .json(DrainField(step: await controls.drainStep))
    }
}

/// The log level as it is shown.
struct LogLevelField: Encodable {
    var level: String

    init(_ level: Logger.Level) { self.level = level.rawValue }
}

/// The drain as it is shown.
struct DrainField: Encodable {
    var step: DrainStep
}
