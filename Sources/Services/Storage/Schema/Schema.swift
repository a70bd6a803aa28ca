import GRDB

/// The tables, as the sequence of changes that made them. A migration that has been released is never edited: databases
/// in the field have already run it.
enum Schema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 users") { database in
            try database.execute(
                sql: """
                    CREATE TABLE user (
                        address        TEXT NOT NULL PRIMARY KEY,  -- lower-case user@domain
                        passwordRecord TEXT NOT NULL,              -- PHC text: $scrypt$…
                        displayName    TEXT NOT NULL DEFAULT ''
                    ) STRICT, WITHOUT ROWID
                    """)
        }
        return migrator
    }
}
