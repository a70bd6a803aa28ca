package import CallControl
package import CallRuntime
import Foundation
import GRDB
import GatewayAPI
package import Primitives

/// The tables `application`, `applicationKey` and `applicationToken`.
package struct ApplicationStore: ApplicationRepository {
    let queue: DatabaseQueue
    /// Where applications and keys are looked up as they make requests, so that they do not wait for a write.
    let lookups: DatabaseQueue

    init(_ queue: DatabaseQueue, lookups: DatabaseQueue) {
        self.queue = queue
        self.lookups = lookups
    }

    /// Reads an application; `nil` if there is none of this name.
    ///
    /// - Throws: `StorageError.failed`.
    package func application(_ name: ApplicationName) async throws(StorageError) -> StoredApplication? {
        try await storageErrors(at: lookups.path) {
            try await lookups.read { database in
                try ApplicationRow.fetchOne(database, key: name.description)
            }?.application()
        }
    }

    /// All applications in the order of their names.
    ///
    /// - Throws: `StorageError.failed`.
    package func allApplications() async throws(StorageError) -> [StoredApplication] {
        try await storageErrors(at: queue.path) {
            try await queue.read { database in
                try ApplicationRow.order(Column("name")).fetchAll(database)
            }.map { try $0.application() }
        }
    }

    /// Adds an application.
    ///
    /// - Throws: `StorageError.applicationExists`; `StorageError.applicationAddressTaken`; `StorageError.failed`.
    package func add(_ application: StoredApplication) async throws(StorageError) {
        let row = ApplicationRow(application)
        try await storageErrors(at: queue.path) {
            try await queue.write { database in
                guard try !ApplicationRow.exists(database, key: application.name.description) else {
                    throw StorageError.applicationExists(application.name)
                }
                try row.insert(database)
                try Self.checkAddresses(of: application, database)
            }
        }
    }

    /// Changes an application; no other change comes between.
    ///
    /// - Throws: `StorageError.noSuchApplication`; `StorageError.applicationAddressTaken`; `StorageError.failed`.
    package func change(
        _ name: ApplicationName, _ edit: @escaping @Sendable (inout ApplicationProfile) -> Void
    ) async throws(StorageError) -> StoredApplication {
        try await storageErrors(at: queue.path) {
            try await queue.write { database in
                guard let row = try ApplicationRow.fetchOne(database, key: name.description) else {
                    throw StorageError.noSuchApplication(name)
                }
                var application = try row.application()
                edit(&application.profile)
                try ApplicationRow(application).update(database)
                try Self.checkAddresses(of: application, database)
                return application
            }
        }
    }

    /// Replaces the secret of an application.
    ///
    /// - Throws: `StorageError.noSuchApplication`; `StorageError.failed`.
    package func setSecret(
        _ secret: Redacted<String>, of name: ApplicationName, keepingFormerUntil end: Int64?
    ) async throws(StorageError) {
        try await change(name) { _, database in
            try database.execute(
                sql: """
                    UPDATE application
                    SET formerSecret = iif(:end IS NULL, NULL, secret), formerUntil = :end, secret = :secret
                    WHERE name = :name
                    """, arguments: ["end": end, "secret": secret.value, "name": name.description])
            return database.changesCount
        }
    }

    /// Removes an application, and what is its own; see `ApplicationRepository`.
    ///
    /// - Throws: `StorageError.noSuchApplication`; `StorageError.failed`.
    package func remove(_ name: ApplicationName) async throws(StorageError) {
        try await change(name) { row, database in try row.deleteAll(database) }
    }

    /// Keeps a token, within the limit of its application.
    ///
    /// - Throws: `StorageError.noSuchApplication`; `StorageError.noSuchUser`; `StorageError.failed`.
    package func keep(
        _ token: ApplicationToken, of application: ApplicationIdentity, limit: Int, at now: Int64
    ) async throws(StorageError) {
        let name = application.name.description
        try await storageErrors(at: queue.path) {
            try await queue.write { database in
                guard try ApplicationRow.exists(application, database) else {
                    throw StorageError.noSuchApplication(application.name)
                }
                let user = try Row.fetchOne(
                    database, sql: "SELECT 1 FROM user WHERE address = ?", arguments: [token.user.text])
                guard user != nil else { throw StorageError.noSuchUser(token.user) }
                try database.execute(
                    sql: "INSERT INTO applicationToken (digest, application, address, expires) VALUES (?, ?, ?, ?)",
                    arguments: [Data(token.digest), name, token.user.text, token.expires])
                try database.execute(
                    sql: """
                        DELETE FROM applicationToken WHERE application = :name AND (expires <= :now OR digest IN (
                            SELECT digest FROM applicationToken WHERE application = :name
                            ORDER BY expires DESC LIMIT -1 OFFSET :limit))
                        """, arguments: ["name": name, "now": now, "limit": limit])
            }
        }
    }

    /// Deletes a token of this user, and says when it expires.
    ///
    /// - Throws: `StorageError.failed`.
    package func take(_ digest: [UInt8], of user: UserAddress) async throws(StorageError) -> Int64? {
        try await storageErrors(at: queue.path) {
            try await queue.write { database in
                try Int64.fetchOne(
                    database,
                    sql: "DELETE FROM applicationToken WHERE digest = ? AND address = ? RETURNING expires",
                    arguments: [Data(digest), user.text])
            }
        }
    }

    /// Takes back what was written if another application has one of the addresses. A single address may be in the
    /// domain of another application: it comes first.
    private static func checkAddresses(of application: StoredApplication, _ database: Database) throws {
        let own = Set(application.profile.addresses)
        guard !own.isEmpty else { return }
        for row in try ApplicationRow.filter(Column("name") != application.name.description).fetchAll(database) {
            let other = try row.application()
            if let taken = other.profile.addresses.first(where: own.contains) {
                throw StorageError.applicationAddressTaken(taken, by: other.name)
            }
        }
    }

    /// Runs a statement that must change exactly the row of `name`.
    private func change(
        _ name: ApplicationName,
        _ statement: @escaping @Sendable (QueryInterfaceRequest<ApplicationRow>, Database) throws -> Int
    ) async throws(StorageError) {
        try await storageErrors(at: queue.path) {
            let changed = try await queue.write { database in
                try statement(ApplicationRow.filter(key: name.description), database)
            }
            guard changed > 0 else { throw StorageError.noSuchApplication(name) }
        }
    }
}

/// A row of the table as SQLite has it.
struct ApplicationRow: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "application"

    var name: String
    var domain: String
    var secret: String
    var displayName: String
    /// A JSON array.
    var scopes: String
    /// A JSON array.
    var addresses: String
    /// Milliseconds.
    var decisionTime: Int64
    /// A JSON object.
    var fallback: String
    var maximumCalls: Int
    var callsPerSecond: Int?
    var formerSecret: String?
    var formerUntil: Int64?
    var streamURL: String?
    var maximumStreams: Int?
    /// 0: a trigger gives it one.
    var number: Int64

    init(_ application: StoredApplication) {
        let profile = application.profile
        name = application.name.description
        domain = application.domain
        secret = application.secret.value
        displayName = profile.displayName
        scopes = Self.json(profile.scopes.map(\.rawValue).sorted())
        addresses = Self.json(profile.addresses.map(\.description))
        decisionTime = profile.decisionTime.wholeMilliseconds
        fallback = Self.json(FallbackField(profile.fallback))
        maximumCalls = profile.maximumCalls
        callsPerSecond = profile.callsPerSecond
        formerSecret = application.formerSecret?.secret.value
        formerUntil = application.formerSecret?.expiresAt
        streamURL = profile.streamURL?.text
        maximumStreams = profile.maximumStreams
        number = application.number
    }

    /// Whether this application is there, and not another one of its name.
    static func exists(_ identity: ApplicationIdentity, _ database: Database) throws -> Bool {
        try fetchOne(database, key: identity.name.description)?.number == identity.number
    }

    private static func json(_ value: some Encodable) -> String {
        String(decoding: WireJSON.encode(value), as: UTF8.self)
    }

    func application() throws(StorageError) -> StoredApplication {
        guard let name = ApplicationName(name), let fallback = FallbackField.read(written: fallback),
            let scopes = try? JSONDecoder().decode([String].self, from: Data(scopes.utf8)),
            let addresses = try? JSONDecoder().decode([String].self, from: Data(addresses.utf8))
        else {
            throw .failed("the database holds an application that cannot be read: \(name)")
        }
        var profile = ApplicationProfile()
        profile.displayName = displayName
        // Scopes and addresses that this version does not know give nothing.
        profile.scopes = Set(scopes.compactMap(ApplicationScope.init(rawValue:)))
        profile.addresses = addresses.compactMap { ApplicationAddress($0) }
        profile.decisionTime = .milliseconds(decisionTime)
        profile.fallback = fallback
        profile.maximumCalls = maximumCalls
        profile.callsPerSecond = callsPerSecond
        profile.streamURL = streamURL.flatMap { WebSocketURL(parsing: $0) }
        profile.maximumStreams = maximumStreams
        var former: StoredApplication.FormerSecret?
        if let formerSecret, let formerUntil {
            former = StoredApplication.FormerSecret(secret: Redacted(formerSecret), expiresAt: formerUntil)
        }
        return StoredApplication(
            name: name, number: number, domain: domain, secret: Redacted(secret), formerSecret: former,
            profile: profile)
    }
}
