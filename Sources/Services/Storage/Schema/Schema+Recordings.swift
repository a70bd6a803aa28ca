import GRDB

/// What is kept of the recordings of calls.
extension DatabaseMigrator {
    /// The migration in the order of ``Schema``.
    mutating func registerRecordings() {
        registerMigration("19 recordings") { database in
            try database.execute(
                sql: """
                    CREATE TABLE recording (
                        id           TEXT NOT NULL PRIMARY KEY,   -- the name of the file, without its ending
                        application  TEXT NOT NULL,
                        address      TEXT NOT NULL,               -- the application's, in the call
                        session      TEXT NOT NULL,               -- the application's leg
                        call         TEXT NOT NULL,               -- hexadecimal digits
                        format       TEXT NOT NULL,
                        sides        TEXT NOT NULL,
                        channels     INTEGER NOT NULL,
                        tag          TEXT,
                        reason       TEXT,                        -- why it is over; NULL: it goes on
                        startedAt    INTEGER NOT NULL,            -- milliseconds since 1970, as below
                        endedAt      INTEGER,
                        milliseconds INTEGER NOT NULL DEFAULT 0,  -- its length
                        bytes        INTEGER NOT NULL DEFAULT 0
                    ) STRICT, WITHOUT ROWID;
                    CREATE INDEX recordingApplication ON recording (application, startedAt, id);
                    CREATE INDEX recordingEnd ON recording (endedAt);
                    -- Recordings whose application is gone are nobody's until their files are removed: an application
                    -- of the same name is another one.
                    CREATE TRIGGER recordingsOfRemovedApplication AFTER DELETE ON application BEGIN
                        UPDATE recording SET application = lower(hex(randomblob(16))) WHERE application = OLD.name;
                    END
                    """)
        }
    }

    /// The migration in the order of ``Schema``. Recordings of before are part of no trace.
    mutating func registerRecordingTraces() {
        registerMigration("22 recording traces") { database in
            try database.execute(sql: "ALTER TABLE recording ADD COLUMN trace TEXT")  // the traceparent of the call
        }
    }
}
