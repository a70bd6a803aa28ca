import GRDB

/// What is kept of push.
extension Schema {
    /// The table of registrations.
    static func registerPushRegistrations(_ migrator: inout DatabaseMigrator) {
        migrator.registerMigration("13 push registrations") { database in
            try database.execute(
                sql: """
                    CREATE TABLE pushRegistration (
                        id            TEXT NOT NULL PRIMARY KEY,
                        user          TEXT NOT NULL REFERENCES user (address) ON DELETE CASCADE,
                        account       INTEGER,              -- that user's identity; NULL: unknown
                        provider      TEXT NOT NULL,        -- apple, google, webhook
                        bundleID      TEXT NOT NULL,
                        realm         TEXT NOT NULL,
                        services      TEXT NOT NULL,        -- a JSON array
                        correlator    TEXT,
                        token         TEXT,                 -- apple: for VoIP pushes; webhook: the URL
                        standardToken TEXT,                 -- apple
                        isProduction  INTEGER NOT NULL,     -- apple
                        time          INTEGER NOT NULL      -- of the last registration, milliseconds since 1970
                    ) STRICT, WITHOUT ROWID;
                    CREATE INDEX pushRegistrationUser ON pushRegistration (user)
                    """)
        }
    }

    /// The table of pushes that devices are owed.
    static func registerOwedPushes(_ migrator: inout DatabaseMigrator) {
        migrator.registerMigration("14 owed pushes") { database in
            try database.execute(
                sql: """
                    CREATE TABLE owedPush (
                        number    INTEGER PRIMARY KEY,              -- in the order of writing
                        name      TEXT NOT NULL UNIQUE,
                        user      TEXT NOT NULL,                    -- user@domain
                        device    TEXT NOT NULL,                    -- a pushRegistration, which may be gone
                        occasion  TEXT NOT NULL,                    -- JSON
                        madeAt    INTEGER NOT NULL,                 -- milliseconds since 1970
                        expiresAt INTEGER NOT NULL                  -- milliseconds since 1970
                    ) STRICT
                    """)
        }
    }
}
