import ArgumentParser
import Gateway

struct LogLevel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the log level, or set it until the gateway stops.",
        discussion: "After the next start log.level holds again.")

    @Argument(help: "trace, debug, info, notice, warning, error or critical.")
    var level: String?

    @OptionGroup var options: AdminOptions

    func run() async throws {
        try await reportingFailure {
            let client = try options.client()
            let answer =
                if let level {
                    try await client.ask("PUT", "/log-level", Array(#"{"level":"\#(level.filter(\.isLetter))"}"#.utf8))
                } else { try await client.ask("GET", "/log-level") }
            print(try JSONValue(parsing: answer.body)["level"])
        }
    }
}
