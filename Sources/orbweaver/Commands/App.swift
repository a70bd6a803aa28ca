import ArgumentParser
import Gateway

struct App: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Add, list and remove application servers that may log users in.",
        discussion: """
            An application server signs a request for a user of its domain with its secret, and gets a token that logs the user in \
            once (docs/protocols/spidr.md, §2).

            Asks the running gateway over its administration socket (admin.socket), or the one at --url with a token in \
            ORBWEAVER_ADMIN_TOKEN. If no gateway listens there, works on the database file that storage.path names. The secret is \
            printed when it is made, and never again:

                orbweaver app add portal --domain example.com --config /etc/orbweaver.yaml
            """,
        subcommands: [Add.self, List.self, Rotate.self, Remove.self]
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

extension App {
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Add an application, and print its secret.")

        @Argument(help: "The name in the path of its requests: 1 to 64 letters, digits, -, _ and .")
        var name: String

        @Option(help: "The domain of the users whom it may log in, such as example.com.")
        var domain: String

        @OptionGroup var options: AdminOptions

        func run() async throws {
            try await App.administer(options) { print(try await $0.add(name, domain: domain)) }
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

        @OptionGroup var options: AdminOptions

        func run() async throws {
            try await App.administer(options) { print(try await $0.rotateSecret(of: name)) }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove an application and its tokens. Users whom it has logged in stay.", aliases: ["rm"])

        @Argument(help: "The name of the application.")
        var name: String

        @OptionGroup var options: AdminOptions

        func run() async throws {
            try await App.administer(options) { try await $0.remove(name) }
        }
    }
}
