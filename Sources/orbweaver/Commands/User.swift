import ArgumentParser
import Foundation
import Gateway

struct User: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Add, list, change and remove users; import and export them.",
        discussion: """
            Asks the running gateway over its administration socket (admin.socket), or the one at --url with a token in \
            ORBWEAVER_ADMIN_TOKEN. If no gateway listens there, works on the database file that storage.path names.

            Passwords are asked for without echo. Scripts give them on standard input or in the environment, never as an argument:

                orbweaver user add alice@example.com --config /etc/orbweaver.yaml
                pwgen 20 1 | orbweaver user passwd alice@example.com --password-stdin
                ORBWEAVER_PASSWORD=… orbweaver user add bob@example.com --display-name "Bob Example"
            """,
        subcommands: [
            Add.self, List.self, Remove.self, Passwd.self, SetAuthName.self, Enable.self, Disable.self, Import.self,
            Export.self,
        ]
    )

    /// Finds the gateway, or opens the database, for one command.
    static func administer(_ options: AdminOptions, _ body: (any UserCommands) async throws -> Void) async throws {
        try await reportingFailure {
            let users = try await options.users()
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
        @OptionGroup var options: AdminOptions

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

        @OptionGroup var options: AdminOptions

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

        @OptionGroup var options: AdminOptions

        func run() async throws {
            try await User.administer(options) { users in try await users.remove(address) }
        }
    }

    struct Passwd: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Change a user's password.")

        @Argument(help: "The full address.")
        var address: String

        @OptionGroup var password: PasswordOptions
        @OptionGroup var options: AdminOptions

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

        @OptionGroup var options: AdminOptions

        func run() async throws {
            try await User.administer(options) { users in try await users.setAuthName(name, of: address) }
        }
    }

    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Let a user log in again.")

        @Argument(help: "The full address.")
        var address: String

        @OptionGroup var options: AdminOptions

        func run() async throws {
            try await User.administer(options) { users in try await users.setEnabled(true, address) }
        }
    }

    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let a user not log in any more; what the user has registered ends, and everything else is kept.")

        @Argument(help: "The full address.")
        var address: String

        @OptionGroup var options: AdminOptions

        func run() async throws {
            try await User.administer(options) { users in try await users.setEnabled(false, address) }
        }
    }

    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add users from JSON lines or CSV, all of them or none.",
            discussion: """
                Each line has address, and password or passwordRecord (as `user export --with-passwords` writes it); \
                displayName, authName and enabled may be there. A line that cannot be used is named, and nothing is imported.
                """)

        @Argument(help: "The file; - is standard input. Its name decides about the format: .csv, or JSON lines.")
        var file: String

        @Option(help: "jsonl or csv.")
        var format: String?

        @Flag(help: "Replace users that exist.")
        var replace = false

        @OptionGroup var options: AdminOptions

        func run() async throws {
            try await reportingFailure {
                let bytes =
                    file == "-"
                    ? try FileHandle.standardInput.readToEnd() ?? Data() : try Data(contentsOf: URL(filePath: file))
                let format = format ?? (file.hasSuffix(".csv") ? "csv" : "jsonl")
                let answer = try await options.client().ask(
                    "POST", "/user-import?format=\(format.escapedForURL)&replace=\(replace)", Array(bytes),
                    contentType: format == "csv" ? "text/csv" : "application/jsonl")
                print("\(try JSONValue(parsing: answer.body)["imported"]) users were imported")
            }
        }
    }

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Write all users as JSON lines or CSV.")

        @Option(help: "jsonl or csv.")
        var format = "jsonl"

        @Flag(
            help: "With the hashes of the passwords, from which weak passwords can be guessed: keep the file as safe.")
        var withPasswords = false

        @OptionGroup var options: AdminOptions

        func run() async throws {
            try await reportingFailure {
                let path = "/user-export" + (withPasswords ? "/with-passwords" : "")
                let answer = try await options.client().ask("GET", path + "?format=\(format.escapedForURL)")
                try FileHandle.standardOutput.write(contentsOf: Data(answer.body))
            }
        }
    }
}
