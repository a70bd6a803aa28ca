package import CallControl
package import CallRuntime
import Foundation
import GRDB
package import Registration

/// The table `routeList`. The routes of a user are gone with the user.
package struct RouteStore: RouteRepository {
    private let queue: DatabaseQueue

    init(_ queue: DatabaseQueue) { self.queue = queue }

    /// The routes of a user.
    ///
    /// - Throws: `StorageError.failed`.
    package func routes(of user: UserAddress) async throws(StorageError) -> RouteList {
        try await storageErrors(at: queue.path) {
            try await queue.read { try Self.routes(of: user, $0) }
        }
    }

    /// Changes the routes of a user.
    ///
    /// - Throws: `fault`; `storage` with `noSuchUser` or `failed`.
    package func change(_ change: RouteList.Change, of user: UserAddress) async throws(RouteError) -> RouteList {
        do {
            return try await queue.write { database in
                let sql = "SELECT EXISTS (SELECT 1 FROM user WHERE address = ?)"
                guard try Bool.fetchOne(database, sql: sql, arguments: [user.text]) == true else {
                    throw StorageError.noSuchUser(user)
                }
                var list = try Self.routes(of: user, database)
                try list.apply(change)
                let text = String(decoding: try JSONEncoder().encode(list.routes), as: UTF8.self)
                try database.execute(
                    sql: "INSERT OR REPLACE INTO routeList (user, routes) VALUES (?, ?)", arguments: [user.text, text])
                return list
            }
        } catch let fault as RouteList.Fault {
            throw .fault(fault)
        } catch {
            throw .storage(StorageError(error, at: queue.path))
        }
    }

    private static func routes(of user: UserAddress, _ database: Database) throws -> RouteList {
        let sql = "SELECT routes FROM routeList WHERE user = ?"
        guard let text = try String.fetchOne(database, sql: sql, arguments: [user.text]) else { return RouteList() }
        do {
            return RouteList(try JSONDecoder().decode([RouteList.Route].self, from: Data(text.utf8)))
        } catch {
            throw StorageError.failed("the routes of a user cannot be read: \(error)")
        }
    }
}
