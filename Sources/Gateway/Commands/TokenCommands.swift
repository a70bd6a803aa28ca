import AdminServer
import CallRuntime
import Cryptography
import Foundation
import Observability
import Primitives
import Storage

/// What `orbweaver admin token` can do, through a running gateway or with the database file.
package protocol TokenCommands: Sendable {
    /// Makes a token, which is returned; it expires after so many days, or never.
    func add(_ name: String, role: String, days: Int?) async throws -> String
    /// One line per token: name, role, when it was made, by whom, and when it expires.
    func list() async throws -> [String]
    /// Revokes a token.
    func revoke(_ name: String) async throws
    /// Ends the use of the database; nothing else is to be called afterwards.
    func close() throws
}

/// `orbweaver admin token` through the administration interface.
package struct RemoteTokens: TokenCommands {
    private let client: AdminClient

    /// Makes commands that a client sends.
    package init(_ client: AdminClient) { self.client = client }

    /// Makes a token.
    ///
    /// - Throws: `AdminClient.Failure`.
    package func add(_ name: String, role: String, days: Int?) async throws -> String {
        struct Wish: Encodable {
            var name: String
            var role: String
            var expiresAt: Int64?
        }
        let wish = Wish(name: name, role: role, expiresAt: days.map(TokenAdministration.time(inDays:)))
        let answer = try await client.ask("POST", "/tokens", Array(try JSONEncoder().encode(wish)))
        return try JSONValue(parsing: answer.body)["token"].description
    }

    /// One line per token.
    ///
    /// - Throws: `AdminClient.Failure`.
    package func list() async throws -> [String] {
        var lines: [String] = []
        var cursor = ""
        while true {
            let page = try JSONValue(parsing: try await client.ask("GET", "/tokens?limit=1000" + cursor).body)
            lines += page["items"].elements.map { token in
                [
                    token["name"].description, token["role"].description, token["createdAt"].time,
                    token["createdBy"].description, token["expiresAt"].time,
                ].joined(separator: "\t")
            }
            guard let next = page["next"].text else { return lines }
            cursor = "&cursor=" + next
        }
    }

    /// Revokes a token.
    ///
    /// - Throws: `AdminClient.Failure`.
    package func revoke(_ name: String) async throws {
        _ = try await client.ask("DELETE", "/tokens/\(name.escapedForURL)")
    }

    /// Does nothing: each request has a connection of its own.
    package func close() {}
}

/// `orbweaver admin token` with the database file, while no gateway runs.
package struct TokenAdministration: TokenCommands {
    private let database: GatewayDatabase

    /// Opens the database that `storage.path` names.
    ///
    /// - Throws: `StorageError.failed`.
    package init(_ configuration: GatewayConfiguration) throws {
        database = try GatewayDatabase(
            .file(configuration.storagePath), logger: configuration.log.makeLogger(label: "orbweaver"))
    }

    /// Makes a token.
    ///
    /// - Throws: `AdminClient.Failure`, `StorageError`.
    package func add(_ name: String, role: String, days: Int?) async throws -> String {
        var random = SecureRandomSource()
        do {
            let (token, stored) = try AdminToken.make(
                name: name, role: role, expiresAt: days.map(Self.time(inDays:)), at: Self.now, by: "command line",
                random: &random)
            guard try await database.administration.addAdminToken(stored) else {
                throw AdminClient.Failure(description: "there is a token named \(name) already")
            }
            return token.text.value
        } catch let error as AdminError {
            throw AdminClient.Failure(description: error.detail)
        }
    }

    /// One line per token.
    ///
    /// - Throws: `StorageError`.
    package func list() async throws -> [String] {
        try await database.administration.adminTokens().map { token in
            [
                token.name, token.role.rawValue, JSONValue.integer(token.createdAt).time, token.createdBy,
                token.expiresAt.map { JSONValue.integer($0).time } ?? "",
            ].joined(separator: "\t")
        }
    }

    /// Revokes a token.
    ///
    /// - Throws: `AdminClient.Failure`, `StorageError`.
    package func revoke(_ name: String) async throws {
        guard try await database.administration.removeAdminToken(name) else {
            throw AdminClient.Failure(description: "there is no token named \(name)")
        }
    }

    /// Closes the database.
    ///
    /// - Throws: `StorageError`.
    package func close() throws { try database.close() }

    private static var now: Int64 { SystemClock().epochMilliseconds }

    /// Milliseconds since 1970, so many days from now.
    static func time(inDays days: Int) -> Int64 { now + Int64(days) * 86_400_000 }
}
