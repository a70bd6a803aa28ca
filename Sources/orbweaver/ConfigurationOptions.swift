import ArgumentParser
import Foundation
import Gateway

/// The options of every command that needs the configuration.
struct ConfigurationOptions: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("YAML file with settings; also $ORBWEAVER_CONFIG.", valueName: "file"))
    var config: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "One setting, such as --set log.level=debug; wins over environment and file. May be repeated.",
            valueName: "section.key=value"))
    var set: [String] = []

    func validate() throws {
        for text in set where !text.contains("=") {
            throw ValidationError("--set \(text): write it as section.key=value")
        }
    }

    /// The configuration from file, environment and options.
    ///
    /// - Parameter shortcuts: settings that have an option of their own.
    /// - Throws: `ConfigurationError` if a value cannot be used.
    func load(isDevelopment: Bool = false, shortcuts: [ConfigurationLoader.Override] = []) throws
        -> ConfigurationLoader.Result
    {
        let overrides = set.map { text in
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return ConfigurationLoader.Override(
                path: String(parts[0]), value: String(parts[1]), flag: "--set \(parts[0])")
        }
        let loader = ConfigurationLoader(
            file: config, isDevelopment: isDevelopment, environment: ProcessInfo.processInfo.environment,
            overrides: overrides + shortcuts)
        return try loader.load()
    }
}
