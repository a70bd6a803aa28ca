import ArgumentParser
import Foundation
import Gateway

struct Webhook: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Where applications are sent the events of their calls.",
        discussion: """
            Each event is one POST, signed as Standard Webhooks says (docs/call-events.md, Webhooks). The key is printed when it is \
            made, and never again:

                orbweaver webhook add support https://bots.example.com/events --type call.ended --type "leg.*"
                orbweaver webhook list support
            """,
        subcommands: [List.self, Add.self, Enable.self, Disable.self, Rotate.self, Remove.self, Retry.self, Test.self])

    /// The application and the webhook of one command.
    struct Target: ParsableArguments {
        @Argument(help: "The name of the application.")
        var application: String

        @Argument(help: "The id of the webhook, as `webhook list` shows it.")
        var id: String

        @OptionGroup var options: AdminOptions

        /// Asks for something below the webhook's path.
        func ask(_ method: String, _ command: String = "", _ body: [UInt8]? = nil) async throws -> JSONValue {
            let path = "/applications/\(application.escapedForURL)/webhooks/\(id.escapedForURL)\(command)"
            return try JSONValue(parsing: try await options.client().ask(method, path, body).body)
        }

        /// Lets events be sent, or not.
        func setEnabled(_ isEnabled: Bool) async throws {
            _ = try await ask("PATCH", "", Array(try JSONEncoder().encode(["enabled": isEnabled])))
        }
    }
}

extension Webhook {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "One line per webhook: id, URL, types, whether it is enabled, what waits and what was given up.")

        @Argument(help: "The name of the application.")
        var application: String

        @OptionGroup var options: AdminOptions

        func run() async throws {
            try await reportingFailure {
                let answer = try await options.client().ask(
                    "GET", "/applications/\(application.escapedForURL)/webhooks")
                for item in try JSONValue(parsing: answer.body)["items"].elements {
                    let fields = [
                        item["id"].description, item["url"].description, item["types"].description,
                        item["enabled"] == .flag(true) ? "enabled" : "disabled", item["waiting"].description,
                        item["parked"].description, item["lastFailure"].text ?? item["disabledBecause"].text ?? "-",
                    ]
                    print(fields.joined(separator: "\t"))
                }
            }
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a webhook, and print its id and its key, with a tab between.")

        @Argument(help: "The name of the application.")
        var application: String

        @Argument(help: "Where events are sent: an https: URL.")
        var url: String

        @Option(name: .customLong("type"), help: "A type, or its first word and .*; without it all are sent.")
        var types: [String] = []

        @OptionGroup var options: AdminOptions

        private struct Wish: Encodable {
            var url: String
            var types: [String]
        }

        func run() async throws {
            try await reportingFailure {
                let answer = try await options.client().ask(
                    "POST", "/applications/\(application.escapedForURL)/webhooks",
                    Array(try JSONEncoder().encode(Wish(url: url, types: types))))
                let added = try JSONValue(parsing: answer.body)
                print("\(added["id"])\t\(added["key"])")
            }
        }
    }

    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send events again, from where it was disabled.")

        @OptionGroup var target: Target

        func run() async throws {
            try await reportingFailure { try await target.setEnabled(true) }
        }
    }

    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Send no events until it is enabled.")

        @OptionGroup var target: Target

        func run() async throws {
            try await reportingFailure { try await target.setEnabled(false) }
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a new key, and print it. The former one signs as well, until the next new one.")

        @OptionGroup var target: Target

        func run() async throws {
            try await reportingFailure { print(try await target.ask("POST", "/key", [])["key"]) }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a webhook, and what it is owed.", aliases: ["rm"])

        @OptionGroup var target: Target

        func run() async throws {
            try await reportingFailure { _ = try await target.ask("DELETE") }
        }
    }

    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send again what was given up, and print how many events that is.")

        @OptionGroup var target: Target

        func run() async throws {
            try await reportingFailure { print(try await target.ask("POST", "/retry", [])["events"]) }
        }
    }

    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send an event of the type webhook.test, and say what becomes of it.")

        @OptionGroup var target: Target

        func run() async throws {
            try await reportingFailure {
                let outcome = try await target.ask("POST", "/test", [])
                print(outcome["detail"])
                if outcome["delivered"] != .flag(true) { throw ExitCode.failure }
            }
        }
    }
}
