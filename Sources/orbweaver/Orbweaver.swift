import ArgumentParser

@main
struct Orbweaver: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "orbweaver",
        abstract: "A WebRTC client gateway.",
        discussion: """
            Clients register over REST, hear of calls over a WebSocket, and send their media through the gateway.

            To try it:            orbweaver serve --dev      (then open http://127.0.0.1:8080/)
            To run it for real:   orbweaver user add alice@example.com
                                  orbweaver check-config /etc/orbweaver.yaml
                                  orbweaver serve --config /etc/orbweaver.yaml
            """,
        subcommands: [Serve.self, CheckConfig.self, User.self, Health.self, Version.self]
    )
}
