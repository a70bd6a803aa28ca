import GRDB

/// What is kept for programs that follow calls.
extension Schema {
    /// The public event log.
    static func registerPublicEvents(_ migrator: inout DatabaseMigrator) {
        migrator.registerMigration("17 public events") { database in
            try database.execute(
                sql: """
                    CREATE TABLE publicEvent (
                        number    INTEGER PRIMARY KEY,              -- grows, with gaps: the second part of a cursor
                        call      TEXT NOT NULL,                    -- hexadecimal digits
                        type      TEXT NOT NULL,
                        time      INTEGER NOT NULL,                 -- milliseconds since 1970
                        addresses TEXT NOT NULL,                    -- of the legs up to then, one per line
                        event     TEXT NOT NULL                     -- docs/call-events.md, the /v1 form
                    ) STRICT;
                    CREATE TABLE publicEventLog (
                        id             INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
                        name           TEXT NOT NULL,               -- the first part of a cursor
                        removedThrough INTEGER NOT NULL DEFAULT 0   -- events up to this number may be gone
                    ) STRICT;
                    INSERT INTO publicEventLog (id, name) VALUES (1, lower(hex(randomblob(6))));
                    CREATE TABLE publicEventFloor (
                        address TEXT NOT NULL PRIMARY KEY,          -- of an account that is younger than the log
                        number  INTEGER NOT NULL                    -- its user is shown what comes behind
                    ) STRICT, WITHOUT ROWID
                    """)
        }
    }

    /// Webhooks of applications, and what they are owed. The latter is in the database of the journal, which may be
    /// another one, and so has no foreign key.
    static func registerWebhooks(_ migrator: inout DatabaseMigrator) {
        migrator.registerMigration("18 webhooks") { database in
            try database.execute(
                sql: """
                    CREATE TABLE webhook (
                        id              TEXT NOT NULL PRIMARY KEY,
                        application     TEXT NOT NULL REFERENCES application (name) ON DELETE CASCADE,
                        url             TEXT NOT NULL,
                        keys            TEXT NOT NULL,              -- whsec_…, with blanks between, the newest first
                        types           TEXT NOT NULL,              -- with blanks between; empty: all
                        isEnabled       INTEGER NOT NULL,
                        disabledBecause TEXT
                    ) STRICT, WITHOUT ROWID;
                    CREATE INDEX webhookApplication ON webhook (application);
                    CREATE TABLE webhookPlace (
                        webhook TEXT NOT NULL PRIMARY KEY,
                        number  INTEGER NOT NULL                    -- what comes behind it is not owed yet
                    ) STRICT, WITHOUT ROWID;
                    CREATE TABLE webhookDelivery (
                        webhook      TEXT NOT NULL,
                        number       INTEGER NOT NULL,              -- of the publicEvent, which may be gone
                        call         TEXT NOT NULL,
                        content      TEXT NOT NULL,                 -- JSON
                        attempts     INTEGER NOT NULL DEFAULT 0,    -- that have failed
                        failingSince INTEGER,                       -- milliseconds since 1970
                        reason       TEXT,
                        isParked     INTEGER NOT NULL DEFAULT 0,    -- given up
                        PRIMARY KEY (webhook, number)
                    ) STRICT, WITHOUT ROWID
                    """)
        }
    }
}
