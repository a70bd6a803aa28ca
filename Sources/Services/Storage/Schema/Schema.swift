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
        migrator.registerMigration("4 journal") { database in
            try database.execute(
                sql: """
                    CREATE TABLE subscription (
                        id              TEXT NOT NULL PRIMARY KEY,
                        channel         TEXT NOT NULL,
                        user            TEXT NOT NULL,              -- user@domain, also of a guest
                        correlator      TEXT,
                        ringingFeedback INTEGER NOT NULL,
                        services        TEXT NOT NULL,              -- a JSON array
                        expiry          INTEGER NOT NULL,           -- milliseconds since 1970, as all times below
                        reminder        INTEGER,
                        firstEventId    INTEGER NOT NULL,
                        replaced        TEXT,                       -- the subscription that the device had before
                        transmitted     INTEGER NOT NULL DEFAULT 0, -- given to a socket, up to this eventId
                        numbered        INTEGER NOT NULL DEFAULT 0, -- the highest eventId, if no row has it
                        forgotten       INTEGER NOT NULL DEFAULT 0, -- given up, up to this eventId
                        lost            INTEGER NOT NULL DEFAULT 0  -- given up, and the client has not been told
                    ) STRICT, WITHOUT ROWID;
                    CREATE TABLE guest (
                        id      TEXT NOT NULL PRIMARY KEY,
                        account TEXT NOT NULL,                      -- whom the guest may call
                        network BLOB
                    ) STRICT, WITHOUT ROWID;
                    CREATE TABLE callEvent (
                        number    INTEGER PRIMARY KEY,              -- in the order of writing
                        call      INTEGER NOT NULL,
                        startedAt INTEGER NOT NULL,                 -- with the call: which run of the gateway
                        sequence  INTEGER NOT NULL,
                        elapsed   INTEGER NOT NULL,                 -- nanoseconds since startedAt
                        isLast    INTEGER NOT NULL,
                        event     TEXT NOT NULL                     -- docs/call-events.md
                    ) STRICT;
                    CREATE TABLE notification (
                        number        INTEGER PRIMARY KEY,          -- in the order of writing
                        subscription  TEXT NOT NULL,
                        eventId       INTEGER NOT NULL,
                        time          INTEGER NOT NULL,
                        isTransmitted INTEGER NOT NULL,             -- 0: look at the subscription
                        kind          TEXT NOT NULL,
                        lost          INTEGER,
                        call          INTEGER,                      -- with startedAt and sequence: a callEvent
                        startedAt     INTEGER,
                        sequence      INTEGER
                    ) STRICT;
                    CREATE TABLE journalTime (
                        id    INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
                        alive INTEGER NOT NULL                      -- when the gateway last ran
                    ) STRICT
                    """)
        }
        migrator.registerMigration("5 call records") { database in
            try database.execute(
                sql: """
                    CREATE TABLE callRecord (
                        number  INTEGER PRIMARY KEY,                -- in the order of writing
                        user    TEXT NOT NULL,                      -- user@domain
                        id      TEXT NOT NULL,                      -- the sessionData of the user's leg
                        isOpen  INTEGER NOT NULL,                   -- the leg goes on in another call
                        endedAt INTEGER NOT NULL,
                        record  TEXT NOT NULL,                      -- JSON
                        UNIQUE (user, id)
                    ) STRICT;
                    CREATE INDEX callRecordUser ON callRecord (user, number);
                    CREATE INDEX callRecordOpen ON callRecord (number) WHERE isOpen
                    """)
        }
        migrator.registerMigration("6 applications") { database in
            try database.execute(
                sql: """
                    CREATE TABLE application (
                        name   TEXT NOT NULL PRIMARY KEY,
                        domain TEXT NOT NULL,               -- the users that it may vouch for
                        secret TEXT NOT NULL                -- the key of its signatures
                    ) STRICT, WITHOUT ROWID;
                    CREATE TABLE applicationToken (
                        digest      BLOB NOT NULL PRIMARY KEY,      -- SHA-256 of the token
                        application TEXT NOT NULL REFERENCES application (name) ON DELETE CASCADE,
                        address     TEXT NOT NULL REFERENCES user (address) ON DELETE CASCADE,
                        expires     INTEGER NOT NULL                -- seconds since 1970
                    ) STRICT, WITHOUT ROWID;
                    CREATE INDEX applicationTokenExpiry ON applicationToken (application, expires);
                    CREATE INDEX applicationTokenUser ON applicationToken (address)
                    """)
        }
        registerServices(&migrator)
        migrator.registerMigration("8 address books") { database in
            try database.execute(
                sql: """
                    CREATE TABLE addressBookEntry (
                        user     TEXT NOT NULL REFERENCES user (address) ON DELETE CASCADE,
                        nickname TEXT NOT NULL,                     -- as the user wrote it
                        isFriend INTEGER NOT NULL,
                        details  TEXT NOT NULL,                     -- a JSON object
                        PRIMARY KEY (user, nickname)
                    ) STRICT, WITHOUT ROWID
                    """)
        }
        migrator.registerAdministration()
        registerIdentities(&migrator)
        migrator.registerRoutes()
        registerOwedMessages(&migrator)
        registerPushRegistrations(&migrator)
        registerOwedPushes(&migrator)
        registerUsedTokens(&migrator)
        migrator.registerApplicationCalls()
        registerPublicEvents(&migrator)
        registerWebhooks(&migrator)
        migrator.registerRecordings()
        migrator.registerApplicationStreams()
        migrator.registerApplicationIdentities()
        migrator.registerRecordingTraces()
        return migrator
    }
}
