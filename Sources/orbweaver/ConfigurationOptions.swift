import ArgumentParser
import Foundation
import Gateway

/// Where a configuration comes from; shared by the commands that need one.
struct ConfigurationOptions: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("Read this YAML file; without it, the one named by ORBWEAVER_CONFIG, if any.", valueName: "file"))
    var config: String?

    @Option(name: .long, help: ArgumentHelp("Override one setting, as in --set media.port=9000. May be repeated.", valueName: "name=value"))
    var set: [String] = []

    /// File, environment, flags: the later one wins.
    ///
    /// - Parameter isLenient: a certificate is not needed for what follows.
    func load(
        isDevelopment: Bool = false, isLenient: Bool = false, overrides: [(flag: String, name: String, value: String)] = []
    ) throws -> GatewayConfiguration {
        let environment = ProcessInfo.processInfo.environment
        var reader = ConfigurationReader(startingFrom: isDevelopment ? .development : GatewayConfiguration())
        if let file = config ?? environment["ORBWEAVER_CONFIG"] { reader.read(yaml: try Self.contents(of: file), named: file) }
        reader.read(environment: environment)
        for override in set {
            let parts = override.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw ValidationError("--set takes name=value, not '\(override)'") }
            reader.read(flag: "--set", name: String(parts[0]), value: String(parts[1]))
        }
        for override in overrides { reader.read(flag: override.flag, name: override.name, value: override.value) }
        return try reader.finish(isDevelopment: isDevelopment || isLenient)
    }

    static func contents(of file: String) throws -> String {
        do {
            return try String(contentsOfFile: file, encoding: .utf8)
        } catch {
            throw GatewayError("cannot read \(file): \(error.localizedDescription)")
        }
    }
}
