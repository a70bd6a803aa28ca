import GRDB

/// The table of routes.
extension DatabaseMigrator {
    /// The migration in the order of ``Schema``.
    mutating func registerRoutes() {
        registerMigration("11 routes") { database in
            try database.execute(
                sql: """
                    CREATE TABLE routeList (
                        user   TEXT NOT NULL PRIMARY KEY REFERENCES user (address) ON DELETE CASCADE,
                        routes TEXT NOT NULL                        -- a JSON array, the first choice first
                    ) STRICT, WITHOUT ROWID
                    """)
        }
    }
}
