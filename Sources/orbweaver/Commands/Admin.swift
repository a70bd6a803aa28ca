import ArgumentParser
import Gateway

struct Admin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Tokens and the audit log of the administration interface; limits, settings and state of the gateway.",
        subcommands: [Token.self, Audit.self, Limits.self, Settings.self, State.self])
}

extension Admin {
    struct Token: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make, list and revoke tokens.",
            discussion: """
                Roles: read-only looks; operator also ends calls and subscriptions, drains and sets the log level; admin does \
                everything. While no gateway runs, tokens are made and revoked in the database file.

                    orbweaver admin token add monitoring --role read-only
                """,
            subcommands: [Add.self, List.self, Revoke.self])

        struct Add: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Make a token and print it. It is shown once, and nowhere kept.")

            @Argument(help: "The name, which the audit log shows.")
            var name: String

            @Option(help: "read-only, operator or admin.")
            var role: String

            @Option(help: ArgumentHelp("It is not accepted any more after so many days.", valueName: "days"))
            var expiresIn: Int?

            @OptionGroup var options: AdminOptions

            func validate() throws {
                if let expiresIn, !(1...36_500).contains(expiresIn) {
                    throw ValidationError("--expires-in must be 1 to 36500 days")
                }
            }

            func run() async throws {
                try await reportingFailure {
                    let tokens = try await options.tokens()
                    print(try await tokens.add(name, role: role, days: expiresIn))
                    try tokens.close()
                }
            }
        }

        struct List: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "One line per token: name, role, when it was made, by whom, when it expires.")

            @OptionGroup var options: AdminOptions

            func run() async throws {
                try await reportingFailure {
                    let tokens = try await options.tokens()
                    for line in try await tokens.list() { print(line) }
                    try tokens.close()
                }
            }
        }

        struct Revoke: AsyncParsableCommand {
            static let configuration = CommandConfiguration(abstract: "Revoke a token.")

            @Argument(help: "The name.")
            var name: String

            @OptionGroup var options: AdminOptions

            func run() async throws {
                try await reportingFailure {
                    let tokens = try await options.tokens()
                    try await tokens.revoke(name)
                    try tokens.close()
                }
            }
        }
    }

    struct Audit: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Who did what, the latest first: number, time, who, role, operation, target, status, result.")

        @Option(help: "Only what this token, or user of the socket, did.")
        var who: String?

        @OptionGroup var options: AdminOptions

        func run() async throws {
            try await reportingFailure {
                let path = "/audit" + (who.map { "?who=\($0.escapedForURL)" } ?? "")
                try await printList(try options.client(), path) { item in
                    [item["number"].description, item["time"].time]
                        + ["who", "role", "operation", "target", "status", "result"].map { item[$0].description }
                }
            }
        }
    }

    struct Limits: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "The limits in force: name, limit, how much is in use where that is counted.")

        @OptionGroup var options: AdminOptions

        func run() async throws {
            try await reportingFailure {
                try await printList(try options.client(), "/limits") {
                    [$0["name"].description, $0["limit"].description, $0["inUse"].description]
                }
            }
        }
    }

    struct Settings: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "The settings that the running gateway has, without secrets.")

        @OptionGroup var options: AdminOptions

        func run() async throws {
            try await reportingFailure {
                try await printList(try options.client(), "/configuration") {
                    ["\($0["name"]): \($0["value"])"]
                }
            }
        }
    }

    struct State: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "How the gateway is: version, start, drain, and what was looked at.")

        @OptionGroup var options: AdminOptions

        func run() async throws {
            try await reportingFailure {
                let health = try JSONValue(parsing: try await options.client().ask("GET", "/health").body)
                print("version \(health["version"]), started \(health["startedAt"].time), \(health["drain"])")
                for check in health["checks"].elements {
                    print("\(check["healthy"] == .flag(true) ? "good" : "bad")\t\(check["name"])\t\(check["detail"])")
                }
            }
        }
    }
}
