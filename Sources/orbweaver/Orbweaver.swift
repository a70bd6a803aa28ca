import ArgumentParser
import Gateway

@main
struct Orbweaver: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "orbweaver",
        abstract: "A WebRTC client gateway: REST and WebSocket signalling, media that goes through the gateway.",
        discussion: """
            To try it out, nothing but this:

                orbweaver serve --dev            then open http://127.0.0.1:8080/

            To run it for others:

                orbweaver check-config /etc/orbweaver.yaml
                orbweaver user add alice@example.com --config /etc/orbweaver.yaml
                orbweaver serve --config /etc/orbweaver.yaml

            Exit status: 0 success, 1 failure, 64 wrong usage. Errors go to standard error.
            """,
        subcommands: [
            Serve.self, CheckConfig.self, User.self, App.self, Webhook.self, Device.self, Calls.self, Call.self,
            Events.self, Drain.self, LogLevel.self, Admin.self, Doctor.self, Backup.self, Restore.self, Health.self,
            Push.self,
            ReplayEvents.self, Version.self,
        ]
    )
}
