/// One setting: its name, what it means, and how it gets into a ``GatewayConfiguration``.
///
/// File, environment, flags, `--help`, the printed configuration and the check of `docs/configuration.md` all come from the
/// list ``all``.
package struct ConfigurationKey: Sendable {
    package let section: String
    package let name: String
    /// One sentence, with the unit where the type does not say it.
    package let summary: String
    /// What a value must be, such as `a port from 0 to 65535`.
    package let expectation: String

    private let assignment: @Sendable (ConfigurationValue, inout GatewayConfiguration) -> Bool
    private let reading: @Sendable (GatewayConfiguration) -> ConfigurationValue

    init<Value>(
        _ section: String, _ name: String, _ field: any WritableKeyPath<GatewayConfiguration, Value> & Sendable,
        _ format: ValueFormat<Value>,
        _ summary: String
    ) {
        self.section = section
        self.name = name
        self.summary = summary
        expectation = format.expectation
        assignment = { value, configuration in
            guard let parsed = format.parse(value) else { return false }
            configuration[keyPath: field] = parsed
            return true
        }
        reading = { format.write($0[keyPath: field]) }
    }

    /// `media.port`.
    package var path: String { "\(section).\(name)" }

    /// `ORBWEAVER_MEDIA_PORT`.
    package var environmentName: String { ConfigurationEnvironment.prefix + "\(section)_\(name)".uppercased() }

    /// `false` if the value is not what the key expects; the configuration is then left as it was.
    func assign(_ value: ConfigurationValue, in configuration: inout GatewayConfiguration) -> Bool {
        assignment(value, &configuration)
    }

    package func value(in configuration: GatewayConfiguration) -> ConfigurationValue { reading(configuration) }
}

/// A value as it is written: one text or a list of them.
package enum ConfigurationValue: Equatable, Sendable, CustomStringConvertible {
    case text(String)
    case list([String])

    /// As it would stand in a YAML file.
    package var description: String {
        switch self {
        case .text(let text): Self.quoted(text)
        case .list(let items): "[" + items.map(Self.quoted).joined(separator: ", ") + "]"
        }
    }

    private static func quoted(_ text: String) -> String {
        let isPlain =
            !text.isEmpty && text.first != "-"
            && text.unicodeScalars.allSatisfy { scalar in
                scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                    || "./-_+@".unicodeScalars.contains(scalar)
            }
        return isPlain ? text : "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}
