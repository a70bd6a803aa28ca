import GRDB

/// The tables of the administration interface, and the mark of accounts that may not log in.
extension DatabaseMigrator {
    /// The migration in the order of ``Schema``.
    mutating func registerAdministration() {
        registerMigration("9 administration") { database in
            try database.execute(
                sql: """
                    ALTER TABLE user ADD COLUMN disabled INTEGER NOT NULL DEFAULT 0;
                    CREATE TABLE adminToken (
                        name      TEXT NOT NULL PRIMARY KEY,
                        digest    BLOB NOT NULL UNIQUE,       -- SHA-256 of the token
                        role      TEXT NOT NULL,
                        createdAt INTEGER NOT NULL,           -- milliseconds since 1970, as all times below
                        createdBy TEXT NOT NULL,
                        expiresAt INTEGER
                    ) STRICT, WITHOUT ROWID;
                    CREATE TABLE auditEntry (
                        number    INTEGER PRIMARY KEY AUTOINCREMENT,
                        time      INTEGER NOT NULL,
                        who       TEXT NOT NULL,
                        role      TEXT NOT NULL,
                        operation TEXT NOT NULL,
                        target    TEXT NOT NULL,
                        status    INTEGER,                    -- NULL: the process ended before it was known
                        result    TEXT
                    ) STRICT;
                    CREATE TABLE idempotentRequest (
                        key         BLOB NOT NULL PRIMARY KEY, -- SHA-256 of who asked and the key
                        fingerprint BLOB NOT NULL,             -- HMAC-SHA-256 of the request under the key
                        time        INTEGER NOT NULL,
                        process     TEXT NOT NULL,             -- which process carries it out
                        status      INTEGER,                   -- NULL: there is no answer yet
                        contentType TEXT,
                        body        BLOB
                    ) STRICT, WITHOUT ROWID
                    """)
        }
    }
}
