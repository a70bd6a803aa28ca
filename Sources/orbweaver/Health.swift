import ArgumentParser
import Gateway

struct Health: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask the gateway on this machine whether it serves; exit status 0 or 1.",
        discussion: "Reads the same configuration as 'serve' to know where to ask. Meant for health checks of containers."
    )

    @OptionGroup var options: ConfigurationOptions

    @Flag(help: "Ask /ready instead of /health: false while the gateway drains.")
    var ready = false

    func run() async throws {
        // Certificates do not matter here.
        let configuration = try options.load(isLenient: true)
        do {
            guard try await HealthProbe.succeeds(configuration, readiness: ready) else { throw ExitCode.failure }
        } catch let code as ExitCode {
            throw code
        } catch {
            throw GatewayError("no answer: \(error)")
        }
    }
}
