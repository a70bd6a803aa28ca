import CallRuntime
import GRDB

/// Reads and writes the table `usedToken`.
enum UsedTokenRows {
    /// How long a token is kept after it has expired, in milliseconds: a wall clock that runs ahead may be put back.
    private static let reserve: Int64 = 86_400_000

    /// Writes a token.
    static func write(_ token: UsedToken, _ database: Database) throws {
        try database.cachedStatement(
            sql: "INSERT OR REPLACE INTO usedToken (realm, identifier, expires) VALUES (?, ?, ?)"
        ).execute(arguments: [token.realm, token.identifier, token.expiresAt])
    }

    /// Removes the tokens that have expired.
    ///
    /// - Parameter now: milliseconds since 1970.
    static func removeOld(_ database: Database, at now: Int64) throws {
        try database.cachedStatement(sql: "DELETE FROM usedToken WHERE expires < ?").execute(arguments: [now - reserve])
    }

    /// The tokens that there are.
    ///
    /// - Throws: `DatabaseError`.
    static func contents(_ database: Database) throws -> [UsedToken] {
        try Row.fetchAll(database, sql: "SELECT * FROM usedToken").map { row in
            UsedToken(realm: row["realm"], identifier: row["identifier"], expiresAt: row["expires"])
        }
    }
}
