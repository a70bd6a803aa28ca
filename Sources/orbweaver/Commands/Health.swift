import ArgumentParser
import Gateway

struct Health: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask the gateway on this machine how it is.",
        discussion: """
            Exits with 0 if GET /health answers 200, else with 1: the health check of the container image, which has no other HTTP \
            client. Finds the port in the configuration that the gateway was started with.

                orbweaver health
                orbweaver health --ready        is it taking new clients?
            """
    )

    @Flag(help: "Ask /ready instead, which says no while the gateway drains.")
    var ready = false

    @Flag(help: "The gateway was started with --dev.")
    var dev = false

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        try await reportingFailure {
            let configuration = try options.load(isDevelopment: dev).configuration
            try await HealthProbe(configuration).ask(ready ? .ready : .health)
        }
    }
}
