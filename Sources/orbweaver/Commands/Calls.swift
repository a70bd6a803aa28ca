import ArgumentParser
import Gateway

struct Calls: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the calls in progress, show one, end one.",
        subcommands: [List.self, Show.self, End.self])
}

extension Calls {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "One line per call: id, state, start, parties.")

        @Option(help: "Only those of this user.")
        var user: String?

        @Option(help: "ringing or answered.")
        var state: String?

        @OptionGroup var options: AdminOptions

        func run() async throws {
            try await reportingFailure {
                let filters = [("user", user), ("state", state)].compactMap { name, value in
                    value.map { "\(name)=\($0.escapedForURL)" }
                }
                let path = "/calls" + (filters.isEmpty ? "" : "?" + filters.joined(separator: "&"))
                try await printList(try options.client(), path) { item in
                    [
                        item["id"].description, item["state"].description, item["startedAt"].time,
                        item["legs"].elements.map { $0["user"].description }.joined(separator: " "),
                    ]
                }
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show a call, its legs and what has happened in it.")

        @Argument(help: "The id, as `calls list` shows it.")
        var id: String

        @OptionGroup var options: AdminOptions

        func run() async throws {
            try await reportingFailure {
                let call = try JSONValue(
                    parsing: try await options.client().ask("GET", "/calls/\(id.escapedForURL)").body)
                print(
                    "call \(call["id"]), \(call["state"]), started \(call["startedAt"].time), media \(call["mediaMode"])"
                )
                for leg in call["legs"].elements {
                    print(
                        "leg \(leg["leg"])\t\(leg["user"])\t\(leg["direction"])\t\(leg["state"])\t\(leg["mediaPath"])\t\(leg["media"])"
                    )
                }
                for entry in call["timeline"].elements {
                    let facts = ["leg", "address", "device", "statusCode", "cause", "reasonText"].compactMap { name in
                        entry[name] == .null ? nil : "\(name) \(entry[name])"
                    }
                    print("\(entry["time"].time)\t\(entry["event"])\t\(facts.joined(separator: ", "))")
                }
            }
        }
    }

    struct End: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "End a call; its parties are told the reason.")

        @Argument(help: "The id, as `calls list` shows it.")
        var id: String

        @Option(help: "What the parties are shown.")
        var reason: String?

        @OptionGroup var options: AdminOptions

        func run() async throws {
            try await reportingFailure {
                let query = reason.map { "?reason=\($0.escapedForURL)" } ?? ""
                _ = try await options.client().ask("DELETE", "/calls/\(id.escapedForURL)\(query)")
            }
        }
    }
}
