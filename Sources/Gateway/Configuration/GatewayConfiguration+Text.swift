extension GatewayConfiguration {
    /// The whole configuration as a YAML file that would produce it; after each value, where it came from.
    /// There are no secrets in it: passwords are in the database, and of the TLS key only the path is known here.
    package func yaml(sources: [String: ConfigurationSource] = [:]) -> String {
        var lines: [String] = []
        for section in ConfigurationKey.sections {
            lines.append("\(section):")
            for key in ConfigurationKey.all where key.section == section {
                let origin = sources[key.path].map { "  # \($0)" } ?? ""
                lines.append("  \(key.name): \(key.value(in: self))\(origin)")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension ConfigurationKey {
    /// One line per setting, for `--help`.
    package static var reference: String {
        let defaults = GatewayConfiguration()
        return all.map { "  \($0.path) = \($0.value(in: defaults))\n      \($0.summary)" }.joined(separator: "\n")
    }
}
