import ArgumentParser
import Gateway

struct Push: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the devices that have registered for push, and try out push providers.",
        subcommands: [List.self, Remove.self, Test.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "One line per device: user, id, provider, app, name, tokens, when it registered, services.")

        @Option(help: "Only those of this user.")
        var user: String?

        @OptionGroup var options: AdminOptions

        func run() async throws {
            try await reportingFailure {
                let path = "/push-registrations" + (user.map { "?user=\($0.escapedForURL)" } ?? "")
                try await printList(try options.client(), path) { item in
                    [
                        item["user"].description, item["id"].description, item["provider"].description,
                        item["bundleID"].description, item["name"].description, item["targets"].description,
                        item["registeredAt"].time, item["services"].description,
                    ]
                }
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a registration; its device is not told.")

        @Argument(help: "The id, as `push list` shows it.")
        var id: String

        @OptionGroup var options: AdminOptions

        func run() async throws {
            try await reportingFailure {
                _ = try await options.client().ask("DELETE", "/push-registrations/\(id.escapedForURL)")
            }
        }
    }

    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send a push to a device, and say what the provider answers.",
            discussion: """
                With --user the gateway that runs sends it to each device that the user has registered. Otherwise this process \
                sends it with the settings of the section push, whether a gateway runs or not. Exits with 0 if the provider has \
                taken every push.

                    orbweaver push test --user alice@example.com
                    orbweaver push test --bundle-id com.example.app --apple-voip-token ab12… --production
                    orbweaver push test --bundle-id com.example.app --google-token … --kind notification
                    orbweaver push test --bundle-id com.example.app --webhook https://push.example.com/orbweaver
                """)

        @Option(help: "The devices that this user has registered, instead of one that the options describe.")
        var user: String?

        @Option(help: "The bundle identifier or package name of the app.")
        var bundleId: String?

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

        @OptionGroup var options: AdminOptions

        func validate() throws {
            guard (user == nil) != (bundleId == nil) else {
                throw ValidationError("give either --user, or --bundle-id and a token or URL")
            }
            guard (1...100_000).contains(count) else { throw ValidationError("--count: write 1 to 100000") }
            guard (0...86_400).contains(time) else { throw ValidationError("--time: write 0 to 86400 seconds") }
        }

        func run() async throws {
            try await reportingFailure {
                if let user { return try await testRegistrations(of: user) }
                let configuration = try options.options.load().configuration
                let test = try PushTest(
                    configuration,
                    PushTest.Device(
                        bundleID: bundleId ?? "", appleVoipToken: appleVoipToken, appleToken: appleToken,
                        isProduction: production, googleToken: googleToken, webhook: webhook))
                let reports = try await test.send(
                    kind, count: count, callerName: caller, callerNumber: number, time: .seconds(time))
                for report in reports { print(report.line) }
                if !reports.allSatisfy(\.isDelivered) { throw ExitCode.failure }
            }
        }

        /// Has the gateway that runs send to each device of the user, and prints a line for each.
        private func testRegistrations(of user: String) async throws {
            let client = try options.client()
            let list = try JSONValue(
                parsing: try await client.ask("GET", "/push-registrations?limit=1000&user=\(user.escapedForURL)").body)
            guard !list["items"].elements.isEmpty else {
                print("\(user) has registered no device for push")
                throw ExitCode.failure
            }
            var isDelivered = true
            for item in list["items"].elements {
                let id = item["id"].description
                let result = try JSONValue(
                    parsing: try await client.ask(
                        "POST", "/push-registrations/\(id.escapedForURL)/test",
                        Array(#"{"kind":"\#(kind.rawValue)"}"#.utf8)
                    ).body)
                print("\(item["provider"]) \(item["name"].text ?? id): \(result["detail"])")
                if result["delivered"] != .flag(true) { isDelivered = false }
            }
            if !isDelivered { throw ExitCode.failure }
        }
    }
}

extension PushTest.Kind: ExpressibleByArgument {}
