import GRDB

extension Schema {
    /// What is kept for messages, presence, voicemail, and subscriptions to events.
    static func registerServices(_ migrator: inout DatabaseMigrator) {
        migrator.registerMigration("7 services") { database in
            try database.execute(
                sql: """
                    ALTER TABLE notification ADD COLUMN content TEXT;   -- JSON; NULL: the other columns say all
                    CREATE TABLE keptMessage (
                        number  INTEGER PRIMARY KEY,                    -- in the order of writing
                        user    TEXT NOT NULL,                          -- whom it is for, user@domain
                        id      TEXT NOT NULL,                          -- messageId
                        message TEXT NOT NULL,                          -- JSON
                        UNIQUE (user, id)
                    ) STRICT;
                    CREATE TABLE presence (
                        user     TEXT NOT NULL PRIMARY KEY,             -- user@domain
                        presence TEXT NOT NULL                          -- JSON
                    ) STRICT, WITHOUT ROWID;
                    CREATE TABLE interest (
                        user      TEXT NOT NULL PRIMARY KEY,            -- who watches, user@domain
                        interests TEXT NOT NULL                         -- JSON
                    ) STRICT, WITHOUT ROWID;
                    CREATE TABLE voicemail (
                        user    TEXT NOT NULL PRIMARY KEY,              -- user@domain
                        unheard INTEGER NOT NULL,
                        heard   INTEGER NOT NULL
                    ) STRICT, WITHOUT ROWID
                    """)
        }
    }

    /// What one owner has still to tell another one.
    static func registerOwedMessages(_ migrator: inout DatabaseMigrator) {
        migrator.registerMigration("12 owed messages") { database in
            try database.execute(
                sql: """
                    CREATE TABLE owedMessage (
                        number  INTEGER PRIMARY KEY,                    -- in the order of sending
                        user    TEXT NOT NULL,                          -- who is to be told, user@domain
                        message TEXT NOT NULL                           -- JSON
                    ) STRICT
                    """)
        }
    }
}
