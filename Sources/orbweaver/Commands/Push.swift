import ArgumentParser
import Gateway

struct Push: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Try out push providers.", subcommands: [Test.self])

    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send a push to a device, and say what the provider answers.",
            discussion: """
                Sends it from this process with the settings of the section push, whether a gateway runs or not. Exits with 0 if the \
                provider has taken every push.

                    orbweaver push test --bundle-id com.example.app --apple-voip-token ab12… --production
                    orbweaver push test --bundle-id com.example.app --google-token … --kind notification
                    orbweaver push test --bundle-id com.example.app --webhook https://push.example.com/orbweaver
                """)

        @Option(help: "The bundle identifier or package name of the app.")
        var bundleId: String

        @Option(help: "The token of an Apple device for VoIP pushes: for calls.")
        var appleVoipToken: String?

        @Option(help: "The token of an Apple device for other pushes.")
        var appleToken: String?

        @Flag(help: "The app is from the App Store or TestFlight.")
        var production = false

        @Option(help: "The registration token of Firebase.")
        var googleToken: String?

        @Option(help: "The URL of the app's own push service.")
        var webhook: String?

        @Option(help: ArgumentHelp("What is pushed.", valueName: "call|cancel|notification|refresh"))
        var kind = PushTest.Kind.call

        @Option(help: "The caller's name, or the title of a notification.")
        var caller = "Orbweaver"

        @Option(help: "The caller's number or address.")
        var number = "test@example.com"

        @Option(help: "Seconds for which the push is of use, as a call rings.")
        var time: Double = 30

        @Option(help: "How many pushes, all at once.")
        var count = 1

        @OptionGroup var options: ConfigurationOptions

        func validate() throws {
            guard (1...100_000).contains(count) else { throw ValidationError("--count: write 1 to 100000") }
            guard (0...86_400).contains(time) else { throw ValidationError("--time: write 0 to 86400 seconds") }
        }

        func run() async throws {
            try await reportingFailure {
                let configuration = try options.load().configuration
                let test = try PushTest(
                    configuration,
                    PushTest.Device(
                        bundleID: bundleId, appleVoipToken: appleVoipToken, appleToken: appleToken,
                        isProduction: production, googleToken: googleToken, webhook: webhook))
                let reports = try await test.send(
                    kind, count: count, callerName: caller, callerNumber: number, time: .seconds(time))
                for report in reports { print(report.line) }
                if !reports.allSatisfy(\.isDelivered) { throw ExitCode.failure }
            }
        }
    }
}

extension PushTest.Kind: ExpressibleByArgument {}
