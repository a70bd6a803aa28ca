import ArgumentParser
import Gateway

struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy the database into a file, also while a gateway runs.",
        discussion: """
            The copy has everything of one moment: users, subscriptions and the call log. The file must not exist, and appears whole \
            or not at all. Only its owner can read it.

            The key of remembered logins is left out on purpose: who has it and the database can guess passwords much faster.

                orbweaver backup /var/backups/orbweaver-monday.sqlite --config /etc/orbweaver.yaml
            """
    )

    @Argument(help: "The file to write.")
    var file: String

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        try await reportingFailure {
            print(try DatabaseBackup(options.load().configuration).write(to: file))
        }
    }
}

struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Put a backup in the place of the database, while no gateway runs.",
        discussion: """
            The backup is checked and stays as it is. The database of before is kept beside the new one, with .before-restore behind \
            its name, until the next restore.

            Clients keep their subscriptions if these are in the backup. What they were told, or should have been told, before the \
            restore is not told again.

                orbweaver restore /var/backups/orbweaver-monday.sqlite --config /etc/orbweaver.yaml
            """
    )

    @Argument(help: "The backup.")
    var file: String

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        try await reportingFailure {
            print(try DatabaseBackup(options.load().configuration).restore(file))
        }
    }
}
