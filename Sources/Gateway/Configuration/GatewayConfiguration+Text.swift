extension GatewayConfiguration {
    /// The whole configuration as a YAML file that would produce it. Each value is followed by a comment that says
    /// where it came from.
    ///
    /// The text has no secrets: passwords are in the database, and of the TLS key only the path is known here.
    ///
    /// - Parameter sources: the source of each setting that was given a value, by its path.
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
    /// Every setting with its default and its summary, for `--help`.
    package static var reference: String {
        let defaults = GatewayConfiguration()
        return all.map { "  \($0.path) = \($0.value(in: defaults))\n      \($0.summary)" }.joined(separator: "\n")
    }
}
