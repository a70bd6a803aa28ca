import ArgumentParser
import Foundation
import Gateway

struct User: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Add, list and remove users, change passwords.",
        discussion: """
            Works on the database file that storage.path names, also while a gateway is running on it: the gateway notices within \
            auth.revalidation, two seconds unless configured otherwise.

            Passwords are asked for without echo. Scripts give them on standard input or in the environment, never as an argument:

                orbweaver user add alice@example.com --config /etc/orbweaver.yaml
                pwgen 20 1 | orbweaver user passwd alice@example.com --password-stdin
                ORBWEAVER_PASSWORD=… orbweaver user add bob@example.com --display-name "Bob Example"
            """,
        subcommands: [Add.self, List.self, Remove.self, Passwd.self, SetAuthName.self]
    )

    /// Opens the database for one command, and closes it afterwards.
    static func administer(_ options: ConfigurationOptions, _ body: (UserAdministration) async throws -> Void)
        async throws
    {
        try await reportingFailure {
            let users = try UserAdministration(options.load().configuration)
            try await body(users)
            try users.close()
        }
    }
}

/// Options that say where a password comes from.
struct PasswordOptions: ParsableArguments {
    @Flag(help: "Take the password from the first line of standard input.")
    var passwordStdin = false

    func read() throws -> String {
        if passwordStdin { return try PasswordInput.standardInput.read() }
        if let password = ProcessInfo.processInfo.environment["ORBWEAVER_PASSWORD"] {
            return try PasswordInput.environment(password).read()
        }
        return try PasswordInput.prompt.read()
    }
}

extension User {
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Add a user.")

        @Argument(help: "The full address, such as alice@example.com.")
        var address: String

        @Option(help: "Shown to the people this user calls.")
        var displayName = ""

        @Option(help: "The name with which the user logs in instead of the address.")
        var authName: String?

        @OptionGroup var password: PasswordOptions
        @OptionGroup var options: ConfigurationOptions

        func run() async throws {
            try await User.administer(options) { users in
                try await users.add(
                    address, password: try password.read(), displayName: displayName, authName: authName)
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the users, one per line: address, display name and auth name, with tabs between.")

        @OptionGroup var options: ConfigurationOptions

        func run() async throws {
            try await User.administer(options) { users in
                for line in try await users.list() { print(line) }
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Remove a user.", aliases: ["rm"])

        @Argument(help: "The full address.")
        var address: String

        @OptionGroup var options: ConfigurationOptions

        func run() async throws {
            try await User.administer(options) { users in try await users.remove(address) }
        }
    }

    struct Passwd: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Change a user's password.")

        @Argument(help: "The full address.")
        var address: String

        @OptionGroup var password: PasswordOptions
        @OptionGroup var options: ConfigurationOptions

        func run() async throws {
            try await User.administer(options) { users in
                try await users.setPassword(try password.read(), of: address)
            }
        }
    }

    struct SetAuthName: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "auth-name", abstract: "Give a user a name to log in with, or take it away.")

        @Argument(help: "The full address.")
        var address: String

        @Argument(help: "The name. Without it, the user logs in with the address again.")
        var name: String?

        @OptionGroup var options: ConfigurationOptions

        func run() async throws {
            try await User.administer(options) { users in try await users.setAuthName(name, of: address) }
        }
    }
}
