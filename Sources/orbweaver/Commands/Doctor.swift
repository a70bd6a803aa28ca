import ArgumentParser
import Gateway

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Explain what keeps clients from the gateway, or may.",
        discussion: """
            Looks at the settings, the ports, the addresses in candidates, the certificate, the limits, the clock and the database, \
            whether a gateway runs or not, and changes nothing. With --public, also asks that URL as a client outside would.

            To be run on the machine of the gateway, with its settings: --socket and --url only say where its administration \
            interface is. Whether UDP from outside gets through is not tried; only a client outside can tell.

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

    @OptionGroup var options: AdminOptions

    func run() async throws {
        try await reportingFailure {
            let configuration = try options.options.load(isDevelopment: dev).configuration
            let client = try options.client(orAt: { configuration.adminSocketPath })
            let findings = await GatewayExamination(
                configuration, asking: client, isExpected: options.namesPlace, publicURL: publicURL
            ).examine()
            for finding in findings { print(finding.line) }
            if findings.contains(where: { $0.verdict == .bad }) { throw ExitCode.failure }
        }
    }
}
