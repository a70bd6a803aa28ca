import ArgumentParser
import Foundation
import Gateway

/// Where a configuration comes from; shared by the commands that need one.
struct ConfigurationOptions: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("Read this YAML file.", valueName: "file"))
    var config: String?

    @Option(name: .long, help: ArgumentHelp("Override one setting, as in --set media.port=9000. May be repeated.", valueName: "name=value"))
    var set: [String] = []

    /// File, environment, flags: the later one wins.
    func load(isDevelopment: Bool, overrides: [(flag: String, name: String, value: String)] = []) throws -> GatewayConfiguration {
        var reader = ConfigurationReader(startingFrom: isDevelopment ? .development : GatewayConfiguration())
        if let config { reader.read(yaml: try Self.contents(of: config), named: config) }
        reader.read(environment: ProcessInfo.processInfo.environment)
        for override in set {
            let parts = override.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw ValidationError("--set takes name=value, not '\(override)'") }
            reader.read(flag: "--set", name: String(parts[0]), value: String(parts[1]))
        }
        for override in overrides { reader.read(flag: override.flag, name: override.name, value: override.value) }
        return try reader.finish(isDevelopment: isDevelopment)
    }

    static func contents(of file: String) throws -> String {
        do {
            return try String(contentsOfFile: file, encoding: .utf8)
        } catch {
            throw GatewayError("cannot read \(file): \(error.localizedDescription)")
        }
    }
}
