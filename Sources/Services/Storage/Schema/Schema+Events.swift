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
}
