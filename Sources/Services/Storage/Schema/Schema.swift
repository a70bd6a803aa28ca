import GRDB

/// The tables, as the sequence of changes that made them. A released migration is never edited: databases in the field
/// have already run it.
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
        migrator.registerMigration("2 logins") { database in
            try database.execute(
                sql: """
                    CREATE TABLE login (
                        digest  BLOB NOT NULL PRIMARY KEY,  -- keyed, of the credentials; the key is not in this file
                        key     BLOB NOT NULL,              -- which key
                        address TEXT NOT NULL REFERENCES user (address) ON DELETE CASCADE,
                        record  BLOB NOT NULL,              -- keyed, of the user's passwordRecord at the time
                        expires INTEGER NOT NULL            -- seconds since 1970
                    ) STRICT, WITHOUT ROWID;
                    CREATE INDEX loginAddress ON login (address, expires);
                    CREATE TABLE loginNetwork (
                        address TEXT NOT NULL REFERENCES user (address) ON DELETE CASCADE,
                        mark    INTEGER NOT NULL,           -- keyed, of the address and a network
                        key     BLOB NOT NULL,
                        expires INTEGER NOT NULL,
                        PRIMARY KEY (address, mark)
                    ) STRICT, WITHOUT ROWID
                    """)
        }
        migrator.registerMigration("3 auth names") { database in
            try database.execute(
                sql: """
                    ALTER TABLE user ADD COLUMN authName TEXT;  -- lower case; NULL: the address
                    CREATE UNIQUE INDEX userAuthName ON user (authName) WHERE authName IS NOT NULL
                    """)
        }
        return migrator
    }
}
