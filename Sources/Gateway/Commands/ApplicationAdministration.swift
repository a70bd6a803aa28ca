import AdminServer
import CallControl
import CallRuntime
import Cryptography
import GatewayAPI
import Observability
import Primitives
import Storage

/// Carries out `orbweaver app`: changes to the database file, also while a gateway has it open.
package struct ApplicationAdministration: ApplicationCommands {
    /// Why a command failed, in words for the operator.
    package typealias Refusal = UserAdministration.Refusal

    private let database: GatewayDatabase

    /// Opens the database that `storage.path` names.
    ///
    /// - Throws: ``Refusal`` if it cannot be opened.
    package init(_ configuration: GatewayConfiguration) throws(Refusal) {
        database = try .administered(configuration)
    }

    /// Adds an application.
    ///
    /// - Returns: its new secret.
    /// - Throws: ``Refusal`` if a value cannot be used, the name is taken, or the database fails.
    package func add(_ wish: ApplicationWish) async throws(Refusal) -> String {
        let application = try reading { () throws(AdminError) in
            var random = SecureRandomSource()
            return try StoredApplication.make(reading: wish.body, random: &random)
        }
        try await perform { applications throws(StorageError) in try await applications.add(application) }
        return application.secret.value
    }

    /// One line per application: its name and, after a tab, its domain.
    ///
    /// - Throws: ``Refusal`` if the database fails.
    package func list() async throws(Refusal) -> [String] {
        var lines: [String] = []
        try await perform { applications throws(StorageError) in
            lines = try await applications.allApplications().map { "\($0.name)\t\($0.domain)" }
        }
        return lines
    }

    /// One line per property: its name and, after a tab, its value.
    ///
    /// - Throws: ``Refusal`` if there is no such application, or the database fails.
    package func show(_ name: String) async throws(Refusal) -> [String] {
        let name = try parsed(name)
        var found: StoredApplication?
        try await perform { applications throws(StorageError) in found = try await applications.application(name) }
        guard let found else { throw Refusal(StorageError.noSuchApplication(name)) }
        do {
            return try JSONValue(parsing: found.shown).memberLines
        } catch {
            throw Refusal(description: error.description)
        }
    }

    /// Changes an application.
    ///
    /// - Throws: ``Refusal`` if a value cannot be used, there is no such application, or the database fails.
    package func change(_ name: String, _ wish: ApplicationWish) async throws(Refusal) {
        let name = try parsed(name)
        let change = try reading { () throws(AdminError) in
            try ApplicationChange(BodyFields(parsing: wish.body, known: Set(ApplicationChange.fields)))
        }
        try await perform { applications throws(StorageError) in
            _ = try await applications.change(name) { change.apply(to: &$0) }
        }
    }

    /// Replaces the secret of an application. The former one is accepted for so many seconds.
    ///
    /// - Returns: the new secret.
    /// - Throws: ``Refusal`` if that is longer than 30 days, there is no such application, or the database fails.
    package func rotateSecret(of name: String, overlap: Int) async throws(Refusal) -> String {
        let name = try parsed(name)
        let longest = StoredApplication.longestOverlap.components.seconds
        guard (0...longest).contains(Int64(overlap)) else {
            throw Refusal(description: "a former secret can be accepted for 0 to \(longest) seconds")
        }
        var random = SecureRandomSource()
        let secret = StoredApplication.makeSecret(random: &random)
        let end = overlap > 0 ? SystemClock().epochMilliseconds + Int64(overlap) * 1_000 : nil
        try await perform { applications throws(StorageError) in
            try await applications.setSecret(secret, of: name, keepingFormerUntil: end)
        }
        return secret.value
    }

    /// Makes a key, which expires after so many days, or never.
    ///
    /// - Throws: ``Refusal`` if there is no such application, it has as many keys as it may have, or the database
    ///   fails.
    package func addKey(of name: String, days: Int?) async throws(Refusal) -> String {
        let name = try parsed(name)
        var random = SecureRandomSource()
        let (key, stored) = ApplicationKey.make(
            of: name, expiresAt: days.map(TokenAdministration.time(inDays:)), at: SystemClock().epochMilliseconds,
            by: "command line", random: &random)
        var isNew = false
        try await perform { applications throws(StorageError) in
            isNew = try await applications.add(stored, digest: key.digest, of: name)
        }
        guard isNew else {
            throw Refusal(description: "\(name) has \(StoredApplicationKey.limit) keys, and may not have more")
        }
        return key.text.value
    }

    /// One line per key: its name, its last characters, when it was made, by whom, and when it expires.
    ///
    /// - Throws: ``Refusal`` if there is no such application, or the database fails.
    package func keys(of name: String) async throws(Refusal) -> [String] {
        let name = try parsed(name)
        var keys: [StoredApplicationKey] = []
        try await perform { applications throws(StorageError) in
            guard try await applications.application(name) != nil else { throw .noSuchApplication(name) }
            keys = try await applications.keys(of: name)
        }
        return keys.map { key in
            [
                key.id, key.ending, JSONValue.integer(key.createdAt).time, key.createdBy,
                key.expiresAt.map { JSONValue.integer($0).time } ?? "",
            ].joined(separator: "\t")
        }
    }

    /// Revokes a key.
    ///
    /// - Throws: ``Refusal`` if there is no such key, or the database fails.
    package func revokeKey(_ id: String, of name: String) async throws(Refusal) {
        let name = try parsed(name)
        var removed: StoredApplicationKey?
        try await perform { applications throws(StorageError) in
            removed = try await applications.removeKey(id, of: name)
        }
        guard removed != nil else { throw Refusal(description: "\(name) has no key named \(id)") }
    }

    /// Removes an application, its keys, and the tokens that it has got.
    ///
    /// - Throws: ``Refusal`` if there is no such application, or the database fails.
    package func remove(_ name: String) async throws(Refusal) {
        let name = try parsed(name)
        try await perform { applications throws(StorageError) in try await applications.remove(name) }
    }

    /// Closes the database. Later calls fail.
    ///
    /// - Throws: ``Refusal`` if the database fails.
    package func close() throws(Refusal) {
        do {
            try database.close()
        } catch {
            throw Refusal(error)
        }
    }

    private func perform(_ body: (ApplicationStore) async throws(StorageError) -> Void) async throws(Refusal) {
        do {
            try await body(database.applications)
        } catch {
            throw Refusal(error)
        }
    }

    private func reading<Value>(_ body: () throws(AdminError) -> Value) throws(Refusal) -> Value {
        do {
            return try body()
        } catch {
            throw Refusal(description: error.detail)
        }
    }

    private func parsed(_ text: String) throws(Refusal) -> ApplicationName {
        guard let name = ApplicationName(text) else {
            throw Refusal(
                description: "\(text) is no name of an application; it has 1 to 64 letters, digits, -, _ and .")
        }
        return name
    }
}
