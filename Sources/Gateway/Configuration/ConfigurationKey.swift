import Primitives

/// One setting: its name, its meaning, and how it is written into a ``GatewayConfiguration``.
///
/// File, environment, flags, `--help`, the printed configuration and the check of `docs/configuration.md` all use the
/// list ``all``.
package struct ConfigurationKey: Sendable {
    /// The section of the file, such as `media`.
    package let section: String
    /// The name within the section, such as `port`.
    package let name: String
    /// One sentence for the operator, with the unit where the type does not say it.
    package let summary: String
    /// What a value must be, such as `a port from 0 to 65535`.
    package let expectation: String

    /// Whether the value is a secret, which the administration interface does not show. The paths of files with secrets
    /// are none.
    package let isSecret: Bool

    private let assignment: @Sendable (ConfigurationValue, inout GatewayConfiguration) -> Bool
    private let reading: @Sendable (GatewayConfiguration) -> ConfigurationValue

    init<Value>(
        _ section: String, _ name: String, _ field: any WritableKeyPath<GatewayConfiguration, Value> & Sendable,
        _ format: ValueFormat<Value>,
        _ summary: String, isSecret: Bool = false
    ) {
        self.section = section
        self.name = name
        self.summary = summary
        self.isSecret = isSecret
        expectation = format.expectation
        assignment = { value, configuration in
            guard let parsed = format.parse(value) else { return false }
            configuration[keyPath: field] = parsed
            return true
        }
        reading = { format.write($0[keyPath: field]) }
    }

    /// Section and name, such as `media.port`.
    package var path: String { "\(section).\(name)" }

    /// The environment variable, such as `ORBWEAVER_MEDIA_PORT`.
    package var environmentName: String { ConfigurationEnvironment.prefix + "\(section)_\(name)".uppercased() }

    /// Writes a value into the configuration. Returns `false`, and changes nothing, if the value is not what the key
    /// expects.
    func assign(_ value: ConfigurationValue, in configuration: inout GatewayConfiguration) -> Bool {
        assignment(value, &configuration)
    }

    /// The value that the setting has in a configuration, for people who may not know secrets.
    package func shownValue(in configuration: GatewayConfiguration) -> String {
        Self.shown(value(in: configuration), isSecret: isSecret)
    }

    /// A value for people who may not know secrets.
    package static func shown(_ value: ConfigurationValue, isSecret: Bool) -> String {
        isSecret ? Redacted(value).description : value.description
    }

    /// The value that the setting has in a configuration, as it is written.
    package func value(in configuration: GatewayConfiguration) -> ConfigurationValue { reading(configuration) }
}

/// A value as it is written: one text or a list of texts.
package enum ConfigurationValue: Equatable, Sendable, CustomStringConvertible {
    /// One text, for a setting that has one value. Numbers, durations and switches are texts, too.
    case text(String)
    /// The texts of a list, in order.
    case list([String])

    /// The value as it would stand in a YAML file.
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
