import ArgumentParser
import Gateway

extension App {
    struct Key: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make, list and revoke the keys with which an application controls its calls.",
            discussion: """
                An application may have several keys, so that they are changed without a gap: make a new one, spread it, and revoke \
                the old one.
                """,
            subcommands: [Add.self, List.self, Revoke.self])

        struct Add: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Make a key and print it. It is shown once, and nowhere kept.")

            @Argument(help: "The name of the application.")
            var name: String

            @Option(help: ArgumentHelp("It is not accepted any more after so many days.", valueName: "days"))
            var expiresIn: Int?

            @OptionGroup var options: AdminOptions

            func validate() throws {
                if let expiresIn, !(1...36_500).contains(expiresIn) {
                    throw ValidationError("--expires-in must be 1 to 36500 days")
                }
            }

            func run() async throws {
                try await App.administer(options) { print(try await $0.addKey(of: name, days: expiresIn)) }
            }
        }

        struct List: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "One line per key: name, last characters, when it was made, by whom, when it expires.")

            @Argument(help: "The name of the application.")
            var name: String

            @OptionGroup var options: AdminOptions

            func run() async throws {
                try await App.administer(options) { for line in try await $0.keys(of: name) { print(line) } }
            }
        }

        struct Revoke: AsyncParsableCommand {
            static let configuration = CommandConfiguration(abstract: "Revoke a key.")

            @Argument(help: "The name of the application.")
            var name: String

            @Argument(help: "The name of the key, as it is listed.")
            var key: String

            @OptionGroup var options: AdminOptions

            func run() async throws {
                try await App.administer(options) { try await $0.revokeKey(key, of: name) }
            }
        }
    }
}
