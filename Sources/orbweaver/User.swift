import ArgumentParser
import Foundation
import Gateway

struct User: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manage the users that may register.",
        discussion: """
            Works on the database of the configuration (storage.path), also while a gateway runs on it: a new password or a \
            removed user takes effect within two seconds.

            A password is asked for without echo, or read from standard input with --password-stdin, or taken from \
            $ORBWEAVER_PASSWORD; never from an argument, which other users of the machine could see.

              orbweaver user add alice@example.com --name Alice
              printf %s "$SECRET" | orbweaver user passwd alice@example.com --password-stdin
            """,
        subcommands: [Add.self, List.self, Remove.self, Passwd.self]
    )

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Add a user.")

        @Argument(help: "user@domain; without a domain, registration.domain.") var address: String
        @Option(help: "The name shown to those this user calls.") var name = ""
        @OptionGroup var password: PasswordOptions
        @OptionGroup var options: ConfigurationOptions

        func run() async throws { try await administration(options).add(address, displayName: name, password: password.read()) }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print the users, one a line.")

        @OptionGroup var options: ConfigurationOptions

        func run() async throws { for address in try await administration(options).list() { print(address) } }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Remove a user.")

        @Argument(help: "user@domain") var address: String
        @OptionGroup var options: ConfigurationOptions

        func run() async throws { try await administration(options).remove(address) }
    }

    struct Passwd: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Change a user's password.")

        @Argument(help: "user@domain") var address: String
        @OptionGroup var password: PasswordOptions
        @OptionGroup var options: ConfigurationOptions

        func run() async throws { try await administration(options).setPassword(of: address, to: password.read()) }
    }

    /// The database does not depend on certificates: a missing one is no reason to refuse.
    private static func administration(_ options: ConfigurationOptions) throws -> UserAdministration {
        let configuration = try options.load(isLenient: true)
        return try UserAdministration(configuration)
    }
}

struct PasswordOptions: ParsableArguments {
    @Flag(help: "Read the password from standard input, up to the end or the first line break.")
    var passwordStdin = false

    func read() throws -> String {
        if passwordStdin { return readLine() ?? "" }
        if let password = ProcessInfo.processInfo.environment["ORBWEAVER_PASSWORD"] { return password }
        return try PasswordPrompt.ask()
    }
}
