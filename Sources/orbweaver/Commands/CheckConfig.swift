import ArgumentParser
import Gateway

struct CheckConfig: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check a configuration file and print what would hold.",
        discussion: """
            Reads the file, the environment and the options as `serve` would, and opens the files they name. Prints every setting \
            that results, and behind it where it came from. If anything is wrong, prints all of it, each with file and line, and \
            exits with 1.

            Example:

                orbweaver check-config /etc/orbweaver.yaml

            The settings, with their defaults (more in docs/configuration.md):

            \(ConfigurationKey.reference)
            """
    )

    @Argument(help: "The YAML file.")
    var file: String

    @Option(
        name: .long, help: ArgumentHelp("One setting, as for `serve`. May be repeated.", valueName: "section.key=value")
    )
    var set: [String] = []

    func run() async throws {
        try await reportingFailure {
            var options = ConfigurationOptions()
            options.config = file
            options.set = set
            let result = try options.load()
            try result.configuration.check()
            for warning in result.configuration.warnings { writeToStandardError("warning: \(warning)\n") }
            print(result.configuration.yaml(sources: result.sources), terminator: "")
        }
    }
}
