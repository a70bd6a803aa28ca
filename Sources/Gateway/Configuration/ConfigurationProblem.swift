/// Where a value came from.
package enum ConfigurationSource: Equatable, Sendable, CustomStringConvertible {
    /// The defaults.
    case preset
    /// A line of the configuration file, from 1.
    case file(String, line: Int)
    /// The environment variable of this name.
    case environment(String)
    /// The option on the command line, as it was written.
    case flag(String)

    /// The source as operators know it, such as `orbweaver.yaml:12`.
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
    /// Where the value came from. `nil` where several values together are wrong.
    package var source: ConfigurationSource?
    /// What is wrong, in words for the operator.
    package var message: String

    /// Makes a problem of its parts.
    package init(_ source: ConfigurationSource?, _ message: String) {
        self.source = source
        self.message = message
    }

    /// The source, if there is one, and the message.
    package var description: String { source.map { "\($0): \(message)" } ?? message }
}

/// Everything that is wrong with a configuration, so that all of it can be corrected at once.
package struct ConfigurationError: Error, Equatable, CustomStringConvertible {
    /// The problems, at least one.
    package var problems: [ConfigurationProblem]

    /// One problem per line.
    package var description: String { problems.map(\.description).joined(separator: "\n") }
}
