import CallControl
package import CallRuntime
import Foundation
import GRDB

/// The tables `login` and `loginNetwork`.
package struct LoginStore: LoginRepository {
    /// How many credentials, and how many networks, are kept for each account. Those that expire first make room. A
    /// client may write the same credentials in many ways.
    private static let limitPerAccount = 16

    private let queue: DatabaseQueue

    init(_ queue: DatabaseQueue) {
        self.queue = queue
    }

    /// The remembered logins that have not expired. Expired ones, and those under another key, are deleted.
    ///
    /// - Parameters:
    ///   - key: the name of the key under which the digests were made.
    ///   - now: seconds since 1970.
    ///   - limit: how many credentials, and how many networks, are read; those that expire last come first.
    /// - Throws: `StorageError.failed`.
    package func rememberedLogins(
        under key: [UInt8], at now: Int64, limit: Int
    ) async throws(StorageError) -> RememberedLogins {
        try await storageErrors(at: queue.path) {
            try await queue.write { database in
                for table in ["login", "loginNetwork"] {
                    try database.execute(
                        sql: "DELETE FROM \(table) WHERE expires <= ? OR key != ?", arguments: [now, Data(key)])
                }
                let credentials = try Row.fetchAll(
                    database, sql: "SELECT digest, address, record, expires FROM login ORDER BY expires DESC LIMIT ?",
                    arguments: [limit])
                let networks = try Row.fetchAll(
                    database, sql: "SELECT address, mark, expires FROM loginNetwork ORDER BY expires DESC LIMIT ?",
                    arguments: [limit])
                return RememberedLogins(
                    credentials: credentials.compactMap(RememberedLogins.Credentials.init),
                    networks: networks.compactMap(RememberedLogins.Network.init))
            }
        }
    }

    /// Writes logins, in place of those with the same digest or mark. Logins of users that do not exist are left out.
    ///
    /// - Parameter key: the name of the key under which the digests were made.
    /// - Throws: `StorageError.failed`.
    package func remember(_ logins: RememberedLogins, under key: [UInt8]) async throws(StorageError) {
        try await storageErrors(at: queue.path) {
            try await queue.write { database in
                for entry in logins.credentials { try Self.write(entry, under: key, database) }
                for entry in logins.networks { try Self.write(entry, under: key, database) }
            }
        }
    }

    private static func write(_ entry: RememberedLogins.Credentials, under key: [UInt8], _ database: Database) throws {
        try database.execute(
            sql: """
                INSERT OR REPLACE INTO login (digest, key, address, record, expires)
                SELECT :digest, :key, address, :record, :expires FROM user WHERE address = :address
                """,
            arguments: [
                "digest": Data(entry.digest), "key": Data(key), "record": Data(entry.record), "expires": entry.expires,
                "address": entry.account.text,
            ])
        try database.execute(
            sql: """
                DELETE FROM login WHERE address = :address AND digest NOT IN
                (SELECT digest FROM login WHERE address = :address ORDER BY expires DESC LIMIT :limit)
                """,
            arguments: ["address": entry.account.text, "limit": limitPerAccount])
    }

    private static func write(_ entry: RememberedLogins.Network, under key: [UInt8], _ database: Database) throws {
        try database.execute(
            sql: """
                INSERT OR REPLACE INTO loginNetwork (address, mark, key, expires)
                SELECT address, :mark, :key, :expires FROM user WHERE address = :address
                """,
            arguments: [
                "mark": Int64(bitPattern: entry.mark), "key": Data(key), "expires": entry.expires,
                "address": entry.account.text,
            ])
        try database.execute(
            sql: """
                DELETE FROM loginNetwork WHERE address = :address AND mark NOT IN
                (SELECT mark FROM loginNetwork WHERE address = :address ORDER BY expires DESC LIMIT :limit)
                """,
            arguments: ["address": entry.account.text, "limit": limitPerAccount])
    }
}

extension RememberedLogins.Credentials {
    /// Reads a row; `nil` if it holds no valid address.
    fileprivate init?(_ row: Row) {
        let (digest, address, record): (Data, String, Data) = (row["digest"], row["address"], row["record"])
        guard let account = UserAddress(parsing: address) else { return nil }
        self.init(digest: Array(digest), account: account, record: Array(record), expires: row["expires"])
    }
}

extension RememberedLogins.Network {
    /// Reads a row; `nil` if it holds no valid address.
    fileprivate init?(_ row: Row) {
        let (address, mark): (String, Int64) = (row["address"], row["mark"])
        guard let account = UserAddress(parsing: address) else { return nil }
        self.init(account: account, mark: UInt64(bitPattern: mark), expires: row["expires"])
    }
}
