import Foundation

/// Builds a configuration: defaults, then the file, then the environment, then flags. The later source wins.
package struct ConfigurationLoader: Sendable {
    /// A setting on the command line, such as `listen.port=8443`.
    package struct Override: Equatable, Sendable {
        /// Section and name, such as `listen.port`.
        package var path: String
        /// The value as it was written.
        package var value: String
        /// The words on the command line that gave the value, for error messages.
        package var flag: String

        /// Makes an override of its parts; each parameter is the property of that name.
        package init(path: String, value: String, flag: String) {
            self.path = path
            self.value = value
            self.flag = flag
        }
    }

    /// A configuration, and where its values came from.
    package struct Result: Sendable {
        /// The values of all settings.
        package var configuration: GatewayConfiguration
        /// The source of each setting that was given a value, by its path.
        package var sources: [String: ConfigurationSource]
    }

    /// The path of the configuration file. `nil`: the file named by `ORBWEAVER_CONFIG`, or none.
    package var file: String?
    /// Whether to start from ``GatewayConfiguration/development``.
    package var isDevelopment: Bool
    /// The environment variables of the process.
    package var environment: [String: String]
    /// The settings on the command line; a later one wins.
    package var overrides: [Override]

    /// Makes a loader of its parts; each parameter is the property of that name.
    package init(
        file: String? = nil, isDevelopment: Bool = false, environment: [String: String] = [:],
        overrides: [Override] = []
    ) {
        self.file = file
        self.isDevelopment = isDevelopment
        self.environment = environment
        self.overrides = overrides
    }

    /// Reads all sources and checks each value by itself. ``GatewayConfiguration/check()`` checks whether the values
    /// fit together, and whether they fit this machine.
    ///
    /// - Throws: ``ConfigurationError`` with every value that cannot be used, and every name that is not a setting.
    package func load() throws(ConfigurationError) -> Result {
        var problems: [ConfigurationProblem] = []
        let entries =
            fileEntries(&problems)
            + ConfigurationEnvironment.entries(in: environment, problems: &problems)
            + overrides.map(entry)
        var result = Result(configuration: isDevelopment ? .development : GatewayConfiguration(), sources: [:])
        for entry in entries {
            if let problem = apply(entry, to: &result) { problems.append(problem) }
        }
        guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
        return result
    }

    private func fileEntries(_ problems: inout [ConfigurationProblem]) -> [ConfigurationEntry] {
        guard let path = file ?? environment["ORBWEAVER_CONFIG"] else { return [] }
        do {
            let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
            return ConfigurationFile.entries(in: text, path: path, problems: &problems)
        } catch {
            problems.append(ConfigurationProblem(nil, "\(path) cannot be read: \(error.localizedDescription)"))
            return []
        }
    }

    private func entry(_ override: Override) -> ConfigurationEntry {
        let parts = override.path.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        return ConfigurationEntry(
            section: parts[0], name: parts.count == 2 ? parts[1] : "", value: .text(override.value),
            source: .flag(override.flag))
    }

    private func apply(_ entry: ConfigurationEntry, to result: inout Result) -> ConfigurationProblem? {
        guard let key = ConfigurationKey.all.first(where: { $0.section == entry.section && $0.name == entry.name })
        else {
            return ConfigurationProblem(
                entry.source, ConfigurationKey.complaint(aboutUnknown: entry.section, entry.name))
        }
        guard key.assign(entry.value, in: &result.configuration) else {
            return ConfigurationProblem(entry.source, "\(key.path): \(entry.value) is not \(key.expectation)")
        }
        result.sources[key.path] = entry.source
        return nil
    }
}

extension ConfigurationKey {
    /// The sections in the order of ``all``.
    package static let sections = all.map(\.section).reduce(into: [String]()) { if $0.last != $1 { $0.append($1) } }

    static func complaint(aboutUnknownSection section: String) -> String {
        let hint =
            nearestName(to: section, among: sections).map { "did you mean \"\($0)\"?" }
            ?? "there are \(sections.joined(separator: ", "))"
        return "unknown section \"\(section)\"; \(hint)"
    }

    /// What is said about a name that is not a setting. It suggests the key that was probably meant: one of the same
    /// section, or the same word elsewhere.
    static func complaint(aboutUnknown section: String, _ name: String) -> String {
        guard sections.contains(section) else { return complaint(aboutUnknownSection: section) }
        let siblings = all.filter { $0.section == section }.map(\.name)
        let hint =
            nearestName(to: name, among: siblings).map { "did you mean \"\($0)\"?" }
            ?? all.first { $0.name == name }.map { "did you mean \"\($0.path)\"?" }
            ?? "\"\(section)\" has \(siblings.joined(separator: ", "))"
        return "unknown key \"\(name)\" in \"\(section)\"; \(hint)"
    }
}
