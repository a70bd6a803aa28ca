import ArgumentParser
import Gateway

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the gateway until SIGTERM.",
        discussion: """
            Settings come from the file, then from the environment (ORBWEAVER_MEDIA_PORT for media.port), then from flags; \
            the later one wins. On SIGTERM new requests are refused, calls end with a reason, sockets close with 1001, and \
            the process exits with 0.

            --dev needs no file: TLS on 8443 with a certificate made at start, plain HTTP on 127.0.0.1:8080, the users \
            alice, bob, carol and dave @dev.local with the password 'dev', a database in memory, and the demo page at /.
            """
    )

    @OptionGroup var options: ConfigurationOptions

    @Flag(help: "Run with demo users, a demo page and a made-up certificate. Not for the open network.")
    var dev = false

    @Option(help: "The port of plain HTTP on 127.0.0.1; the same as --set listen.plain_port=…")
    var httpPort: Int?

    @Option(help: "The port of HTTPS; the same as --set listen.port=…")
    var httpsPort: Int?

    @Option(help: "The first UDP port of media; the same as --set media.port=…")
    var mediaPort: Int?

    func run() async throws {
        let overrides = [("--http-port", "listen.plain_port", httpPort), ("--https-port", "listen.port", httpsPort), ("--media-port", "media.port", mediaPort)]
            .compactMap { flag, name, value in value.map { (flag: flag, name: name, value: String($0)) } }
        let configuration = try options.load(isDevelopment: dev, overrides: overrides)
        try await Gateway.build(configuration, isDevelopment: dev).run()
    }
}
