import ArgumentParser
import Gateway

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Explain what keeps clients from the gateway, or may.",
        discussion: """
            Looks at the settings, the ports, the addresses in candidates, the certificate, the limits, the clock and the database, \
            whether a gateway runs or not, and changes nothing. With --public, also asks that URL as a client outside would.

            Each line is good, look (possible, but worth a look) or bad, then what it is about, then what was found. The exit \
            status is 1 if anything is bad.

                orbweaver doctor --config /etc/orbweaver.yaml --public https://gateway.example.com
            """)

    @Option(
        name: .customLong("public"),
        help: ArgumentHelp("Where clients reach the gateway.", valueName: "https://host[:port]"))
    var publicURL: String?

    @Flag(help: "The gateway was started with --dev.")
    var dev = false

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        try await reportingFailure {
            let configuration = try options.load(isDevelopment: dev).configuration
            let findings = await GatewayExamination(configuration, publicURL: publicURL).examine()
            for finding in findings { print(finding.line) }
            if findings.contains(where: { $0.verdict == .bad }) { throw ExitCode.failure }
        }
    }
}
