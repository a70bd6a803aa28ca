import ArgumentParser
import Gateway

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the gateway until SIGTERM or Ctrl-C.",
        discussion: """
            Settings come from the defaults, then the file, then environment variables (ORBWEAVER_MEDIA_PORT is media.port), then \
            these options; the later one wins. `orbweaver check-config --help` lists every setting.

            --dev is for trying things out on one machine: TLS on 8443 with a certificate made at start, plain HTTP on \
            127.0.0.1:8080, the users alice, bob, carol and dave @dev.local with the password "dev", a database that is thrown \
            away, media over loopback too, and a page with two phones at http://127.0.0.1:8080/.

            Without --dev a certificate is needed, or tls.mode: off behind a proxy that does TLS; users are made with \
            `orbweaver user add`.

            On SIGTERM the gateway takes no more calls, ends those there are, closes its sockets, and exits with 0 within \
            drain.deadline.

            Examples:

                orbweaver serve --dev
                orbweaver serve --config /etc/orbweaver.yaml
                orbweaver serve --config /etc/orbweaver.yaml --set media.advertise=203.0.113.7
            """
    )

    @OptionGroup var options: ConfigurationOptions

    @Flag(help: "Demo users, demo page, throw-away database, self-made certificate.")
    var dev = false

    @Option(help: ArgumentHelp("TCP port of plain HTTP: listen.plain_port.", valueName: "port"))
    var httpPort: String?

    @Option(help: ArgumentHelp("TCP port of REST and WebSocket: listen.port.", valueName: "port"))
    var httpsPort: String?

    @Option(help: ArgumentHelp("UDP port of the first media worker: media.port.", valueName: "port"))
    var mediaPort: String?

    func run() async throws {
        try await reportingFailure {
            try await Gateway.serve(try options.load(isDevelopment: dev, shortcuts: shortcuts).configuration)
        }
    }

    private var shortcuts: [ConfigurationLoader.Override] {
        [
            ("listen.plain_port", httpPort, "--http-port"), ("listen.port", httpsPort, "--https-port"),
            ("media.port", mediaPort, "--media-port"),
        ].compactMap { path, value, flag in
            value.map { ConfigurationLoader.Override(path: path, value: $0, flag: flag) }
        }
    }
}
