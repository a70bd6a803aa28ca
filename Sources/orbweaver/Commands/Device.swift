import ArgumentParser
import Gateway

struct Device: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the registered devices, and end one.",
        discussion: """
            A device is a subscription for calls; --all also lists subscriptions for other services.

                orbweaver device list --user alice@example.com
                orbweaver device end alice@example.com dqs3Y1nUhBzn0lJm
            """,
        subcommands: [List.self, End.self])
}

extension Device {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "One line per device: user, id, name, whether it listens, when it expires, services.")

        @Option(help: "Only those of this user.")
        var user: String?

        @Flag(help: "All subscriptions, also those that do not ring.")
        var all = false

        @OptionGroup var options: AdminOptions

        func run() async throws {
            try await reportingFailure {
                let path = (all ? "/subscriptions" : "/devices") + (user.map { "?user=\($0.escapedForURL)" } ?? "")
                try await printList(try options.client(), path) { item in
                    [
                        item["user"].description, item["id"].description, item["name"].description,
                        item["connected"] == .flag(true) ? "connected" : "away", item["expiresAt"].time,
                        item["services"].description,
                    ]
                }
            }
        }
    }

    struct End: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End a subscription; its client is told that it is gone.")

        @Argument(help: "The full address of the user.")
        var user: String

        @Argument(help: "The id, as `device list` shows it.")
        var id: String

        @OptionGroup var options: AdminOptions

        func run() async throws {
            try await reportingFailure {
                _ = try await options.client().ask(
                    "DELETE", "/subscriptions/\(user.escapedForURL)/\(id.escapedForURL)")
            }
        }
    }
}
