import GRDB

/// What applications that have calls need.
extension DatabaseMigrator {
    /// The migration in the order of ``Schema``.
    mutating func registerApplicationCalls() {
        registerMigration("16 application calls") { database in
            try database.execute(
                sql: """
                    ALTER TABLE application ADD COLUMN displayName TEXT NOT NULL DEFAULT '';
                    ALTER TABLE application ADD COLUMN scopes TEXT NOT NULL DEFAULT '["users:login"]'; -- JSON, as below
                    ALTER TABLE application ADD COLUMN addresses TEXT NOT NULL DEFAULT '[]';
                    ALTER TABLE application ADD COLUMN decisionTime INTEGER NOT NULL DEFAULT 10000; -- milliseconds
                    ALTER TABLE application ADD COLUMN fallback TEXT NOT NULL DEFAULT '{"reject":"unavailable"}';
                    ALTER TABLE application ADD COLUMN maximumCalls INTEGER NOT NULL DEFAULT 100;
                    ALTER TABLE application ADD COLUMN callsPerSecond INTEGER;  -- NULL: any number
                    ALTER TABLE application ADD COLUMN formerSecret TEXT;
                    ALTER TABLE application ADD COLUMN formerUntil INTEGER;     -- milliseconds since 1970, as below
                    CREATE TABLE applicationKey (
                        id          TEXT NOT NULL PRIMARY KEY,
                        application TEXT NOT NULL REFERENCES application (name) ON DELETE CASCADE,
                        digest      BLOB NOT NULL UNIQUE,       -- SHA-256 of the key
                        ending      TEXT NOT NULL,              -- its last characters
                        createdAt   INTEGER NOT NULL,
                        createdBy   TEXT NOT NULL,
                        expiresAt   INTEGER
                    ) STRICT, WITHOUT ROWID;
                    CREATE INDEX applicationKeyApplication ON applicationKey (application, createdAt);
                    ALTER TABLE idempotentRequest
                        ADD COLUMN application TEXT REFERENCES application (name) ON DELETE CASCADE; -- NULL: an operator
                    CREATE INDEX idempotentRequestTime ON idempotentRequest (application, time)
                    """)
        }
    }
}
