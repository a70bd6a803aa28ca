import GRDB

extension Schema {
    /// Which account made a subscription, and where rows go that cannot be understood.
    static func registerIdentities(_ migrator: inout DatabaseMigrator) {
        migrator.registerMigration("10 identities") { database in
            try database.execute(
                sql: """
                    ALTER TABLE user ADD COLUMN identity INTEGER NOT NULL DEFAULT 0;  -- 0: older than this column
                    CREATE TRIGGER userIdentity AFTER INSERT ON user WHEN NEW.identity = 0 BEGIN
                        UPDATE user SET identity = abs(random() / 2) + 1 WHERE address = NEW.address;
                    END;
                    ALTER TABLE subscription ADD COLUMN account INTEGER;  -- that user's identity; NULL: unknown
                    CREATE TABLE setAside (
                        number  INTEGER PRIMARY KEY AUTOINCREMENT,
                        time    INTEGER NOT NULL,           -- when it was found, milliseconds since 1970
                        source  TEXT NOT NULL,              -- the table that it stood in
                        reason  TEXT NOT NULL,
                        content TEXT NOT NULL               -- its columns, as a JSON object
                    ) STRICT
                    """)
        }
    }

    /// The single-use callMe tokens with which guests have come.
    static func registerUsedTokens(_ migrator: inout DatabaseMigrator) {
        migrator.registerMigration("15 used tokens") { database in
            try database.execute(
                sql: """
                    CREATE TABLE usedToken (
                        realm      TEXT NOT NULL,
                        identifier TEXT NOT NULL,           -- jti
                        expires    INTEGER NOT NULL,        -- milliseconds since 1970
                        PRIMARY KEY (realm, identifier)
                    ) STRICT, WITHOUT ROWID;
                    CREATE INDEX usedTokenExpiry ON usedToken (expires)
                    """)
        }
    }
}
