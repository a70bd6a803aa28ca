import ArgumentParser
import Foundation
import Gateway

struct CheckConfig: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Read a configuration file and say what is wrong with it, or what it comes to.",
        discussion: """
            Names the file and line of every unknown key and bad value, and the nearest key that exists. If all is well it prints \
            every setting with its value and exits with 0. The environment counts, as it would for 'serve'.
            """
    )

    @Argument(help: "The YAML file.")
    var file: String

    func run() throws {
        var reader = ConfigurationReader(startingFrom: GatewayConfiguration())
        reader.read(yaml: try ConfigurationOptions.contents(of: file), named: file)
        reader.read(environment: ProcessInfo.processInfo.environment)
        let configuration = try reader.finish(isDevelopment: false)
        for setting in Setting.all { print("\(setting.name): \(setting.read(configuration))") }
    }
}
