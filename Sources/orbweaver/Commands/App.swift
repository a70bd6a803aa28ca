import ArgumentParser
import Gateway

struct App: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Add, change and remove applications: servers that log users in, and bots that have calls.",
        discussion: """
            An application server signs a request for a user of its domain with its secret, and gets a token that logs the user in \
            once (docs/protocols/spidr.md, §2). A bot has addresses at which it is called, and controls its calls over HTTP with a key \
            (docs/bots.md).

            Asks the running gateway over its administration socket (admin.socket), or the one at --url with a token in \
            ORBWEAVER_ADMIN_TOKEN. If no gateway listens there, works on the database file that storage.path names. Secrets and keys \
            are printed when they are made, and never again:

                orbweaver app add portal --domain example.com --config /etc/orbweaver.yaml
                orbweaver app add bot --address "*@bots.example.com" --config /etc/orbweaver.yaml
                orbweaver app key add bot --config /etc/orbweaver.yaml
            """,
        subcommands: [Add.self, List.self, Show.self, Change.self, Rotate.self, Remove.self, Key.self]
    )

    /// Finds the gateway, or opens the database, for one command.
    static func administer(
        _ options: AdminOptions, _ body: (any ApplicationCommands) async throws -> Void
    ) async throws {
        try await reportingFailure {
            let applications = try await options.applications()
            try await body(applications)
            try applications.close()
        }
    }
}

/// What an application may do, and how its calls are treated.
struct ApplicationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "An address at which it is called, such as bot@example.com or *@bots.example.com; may be repeated.",
            valueName: "address"))
    var address: [String] = []

    @Option(
        help: ArgumentHelp(
            "What it may do; may be repeated: users:login, calls:read, calls:write, media, recordings, events.",
            valueName: "scope"))
    var scope: [String] = []

    @Option(help: "The display name, which others see.")
    var displayName: String?

    @Option(help: ArgumentHelp("How long a call waits for a command, 0 to 60 seconds.", valueName: "seconds"))
    var decisionTime: Double?

    @Option(
        help: ArgumentHelp(
            "What happens if no command comes: reject:busy (or declined, unavailable, notFound), "
                + "forward:alice@example.com, announce:FILE, answer:echo.", valueName: "what"))
    var fallback: String?

    @Option(help: ArgumentHelp("The most calls at a time.", valueName: "number"))
    var maximumCalls: Int?

    @Option(help: ArgumentHelp("How many calls may start in a second.", valueName: "number"))
    var callsPerSecond: Int?

    @Option(
        name: .customLong("stream-url"),
        help: ArgumentHelp(
            "Where the gateway opens audio streams that are asked for without a URL, such as wss://bot.example.com/talk; "
                + "an empty text: nowhere any more.", valueName: "url"))
    var streamURL: String?

    @Option(help: ArgumentHelp("The most audio streams at a time, listeners included.", valueName: "number"))
    var maximumStreams: Int?

    func validate() throws {
        if let fallback, ApplicationWish.Fallback(fallback) == nil {
            throw ValidationError("--fallback must start with reject:, forward:, announce: or answer:")
        }
        if let decisionTime, !(0...60).contains(decisionTime) {
            throw ValidationError("--decision-time must be 0 to 60 seconds")
        }
    }

    var wish: ApplicationWish {
        var wish = ApplicationWish()
        wish.addresses = address.isEmpty ? nil : address
        wish.scopes = scope.isEmpty ? nil : scope
        wish.displayName = displayName
        wish.decisionTime = decisionTime.map { Int($0 * 1_000) }
        wish.fallback = fallback.flatMap { ApplicationWish.Fallback($0) }
        wish.maximumCalls = maximumCalls
        wish.callsPerSecond = callsPerSecond
        wish.streamURL = streamURL
        wish.maximumStreams = maximumStreams
        return wish
    }
}

extension App {
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Add an application, and print its secret.")

        @Argument(help: "The name in the path of its requests: 1 to 64 letters, digits, -, _ and .")
        var name: String

        @Option(help: "The domain of the users whom it may log in, such as example.com.")
        var domain: String?

        @OptionGroup var application: ApplicationOptions
        @OptionGroup var options: AdminOptions

        func run() async throws {
            var wish = application.wish
            (wish.name, wish.domain) = (name, domain)
            let complete = wish
            try await App.administer(options) { print(try await $0.add(complete)) }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show an application, one property per line, with a tab between its name and its value.")

        @Argument(help: "The name of the application.")
        var name: String

        @OptionGroup var options: AdminOptions

        func run() async throws {
            try await App.administer(options) { for line in try await $0.show(name) { print(line) } }
        }
    }

    struct Change: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change an application. What is not named stays; addresses and scopes are replaced as a whole.")

        @Argument(help: "The name of the application.")
        var name: String

        @OptionGroup var application: ApplicationOptions
        @OptionGroup var options: AdminOptions

        func run() async throws {
            let wish = application.wish
            try await App.administer(options) { try await $0.change(name, wish) }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the applications, one per line: name and domain, with a tab between.")

        @OptionGroup var options: AdminOptions

        func run() async throws {
            try await App.administer(options) { for line in try await $0.list() { print(line) } }
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give an application a new secret, and print it. The former one is refused from now on.")

        @Argument(help: "The name of the application.")
        var name: String

        @Option(help: ArgumentHelp("The former secret is accepted for so long as well.", valueName: "seconds"))
        var overlap = 0

        @OptionGroup var options: AdminOptions

        func validate() throws {
            guard (0...2_592_000).contains(overlap) else {
                throw ValidationError("--overlap must be 0 to 2592000 seconds, which are 30 days")
            }
        }

        func run() async throws {
            try await App.administer(options) { print(try await $0.rotateSecret(of: name, overlap: overlap)) }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Remove an application, its keys and its tokens. Users whom it has logged in stay; its calls end.",
            aliases: ["rm"])

        @Argument(help: "The name of the application.")
        var name: String

        @OptionGroup var options: AdminOptions

        func run() async throws {
            try await App.administer(options) { try await $0.remove(name) }
        }
    }
}
