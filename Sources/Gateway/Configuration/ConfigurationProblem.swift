/// Where a value came from.
package enum ConfigurationSource: Equatable, Sendable, CustomStringConvertible {
    case preset
    /// Lines count from 1.
    case file(String, line: Int)
    case environment(String)
    case flag(String)

    package var description: String {
        switch self {
        case .preset: "default"
        case .file(let path, let line): "\(path):\(line)"
        case .environment(let name): name
        case .flag(let flag): flag
        }
    }
}

/// One thing that is wrong with a configuration.
package struct ConfigurationProblem: Equatable, Sendable, CustomStringConvertible {
    /// `nil` where several values together are wrong.
    package var source: ConfigurationSource?
    package var message: String

    package init(_ source: ConfigurationSource?, _ message: String) {
        self.source = source
        self.message = message
    }

    package var description: String { source.map { "\($0): \(message)" } ?? message }
}

/// Everything that is wrong with a configuration, so that it can be put right in one go.
package struct ConfigurationError: Error, Equatable, CustomStringConvertible {
    package var problems: [ConfigurationProblem]

    package var description: String { problems.map(\.description).joined(separator: "\n") }
}
