import CallControl
import CallRuntime
import Foundation
import GRDB
import GatewayAPI

/// Reads and writes the table `owedPush`.
enum OwedPushRows {
    /// Notes that a device is owed a push. One of the same name is the same push.
    static func write(_ push: OwedPush, _ database: Database) throws {
        try database.cachedStatement(
            sql: """
                INSERT OR IGNORE INTO owedPush (name, user, device, occasion, madeAt, expiresAt)
                VALUES (?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            push.name, push.user.text, push.device.rawValue,
            String(decoding: WireJSON.encode(push.occasion), as: UTF8.self), push.madeAt, push.expiresAt,
        ])
    }

    /// Removes a push that is not owed any more.
    static func remove(_ name: String, _ database: Database) throws {
        try database.cachedStatement(sql: "DELETE FROM owedPush WHERE name = ?").execute(arguments: [name])
    }

    /// Removes all pushes to devices of a user.
    static func removeAll(of user: UserAddress, _ database: Database) throws {
        try database.execute(sql: "DELETE FROM owedPush WHERE user = ?", arguments: [user.text])
    }

    /// All pushes that are owed, in the order in which they were decided. Rows that cannot be understood are set aside.
    ///
    /// - Throws: `DatabaseError`.
    static func contents(_ database: Database, _ setAside: inout SetAside) throws -> [OwedPush] {
        try Row.fetchAll(database, sql: "SELECT * FROM owedPush ORDER BY number").compactMap { row in
            do {
                guard let user = UserAddress(parsing: row["user"] as String) else { throw Damage.user }
                let text: String = row["occasion"]
                return OwedPush(
                    name: row["name"], user: user, device: PushDeviceID(row["device"]),
                    occasion: try JSONDecoder().decode(OwedPush.Occasion.self, from: Data(text.utf8)),
                    madeAt: row["madeAt"], expiresAt: row["expiresAt"])
            } catch {
                let reason = error is Damage ? "its user is none" : SetAside.reason(of: error)
                try setAside.move(
                    row, from: "owedPush", key: "number", because: "a push cannot be read: \(reason)", database)
                return nil
            }
        }
    }

    private enum Damage: Error {
        case user
    }
}
