import Foundation

/// What `orbweaver app` can do, through a running gateway or with the database file.
package protocol ApplicationCommands: Sendable {
    /// Adds an application, and returns its new secret.
    func add(_ wish: ApplicationWish) async throws -> String
    /// One line per application: its name and, after a tab, its domain.
    func list() async throws -> [String]
    /// One line per property of an application: its name and, after a tab, its value.
    func show(_ name: String) async throws -> [String]
    /// Changes an application.
    func change(_ name: String, _ wish: ApplicationWish) async throws
    /// Replaces the secret of an application, and returns the new one. The former one is accepted for so many seconds.
    func rotateSecret(of name: String, overlap: Int) async throws -> String
    /// Removes an application, its keys and its tokens.
    func remove(_ name: String) async throws
    /// Makes a key of an application, and returns it; it expires after so many days, or never.
    func addKey(of name: String, days: Int?) async throws -> String
    /// One line per key: its name, its last characters, when it was made, by whom, and when it expires.
    func keys(of name: String) async throws -> [String]
    /// Revokes a key.
    func revokeKey(_ id: String, of name: String) async throws
    /// Ends the use of the database; nothing else is to be called afterwards.
    func close() throws
}

/// `orbweaver app` through the administration interface of a running gateway.
package struct RemoteApplications: ApplicationCommands {
    private let client: AdminClient

    /// Makes commands that a client sends.
    package init(_ client: AdminClient) { self.client = client }

    /// Adds an application.
    ///
    /// - Throws: `AdminClient.Failure`.
    package func add(_ wish: ApplicationWish) async throws -> String {
        try member("secret", of: try await client.ask("POST", "/applications", wish.body))
    }

    /// One line per application.
    ///
    /// - Throws: `AdminClient.Failure`.
    package func list() async throws -> [String] {
        var lines: [String] = []
        var cursor = ""
        while true {
            let page = try JSONValue(parsing: try await client.ask("GET", "/applications?limit=1000" + cursor).body)
            lines += page["items"].elements.map { "\($0["name"])\t\($0["domain"])" }
            guard let next = page["next"].text else { return lines }
            cursor = "&cursor=" + next
        }
    }

    /// One line per property.
    ///
    /// - Throws: `AdminClient.Failure`.
    package func show(_ name: String) async throws -> [String] {
        try JSONValue(parsing: try await client.ask("GET", path(name)).body).memberLines
    }

    /// Changes an application.
    ///
    /// - Throws: `AdminClient.Failure`.
    package func change(_ name: String, _ wish: ApplicationWish) async throws {
        _ = try await client.ask("PATCH", path(name), wish.body)
    }

    /// Replaces the secret of an application.
    ///
    /// - Throws: `AdminClient.Failure`.
    package func rotateSecret(of name: String, overlap: Int) async throws -> String {
        let body = Array(#"{"overlap":\#(overlap * 1_000)}"#.utf8)
        return try member("secret", of: try await client.ask("POST", path(name) + "/secret", body))
    }

    /// Removes an application.
    ///
    /// - Throws: `AdminClient.Failure`.
    package func remove(_ name: String) async throws { _ = try await client.ask("DELETE", path(name)) }

    /// Makes a key.
    ///
    /// - Throws: `AdminClient.Failure`.
    package func addKey(of name: String, days: Int?) async throws -> String {
        let end = days.map { #""expiresAt":\#(TokenAdministration.time(inDays: $0))"# } ?? ""
        return try member("key", of: try await client.ask("POST", path(name) + "/keys", Array("{\(end)}".utf8)))
    }

    /// One line per key.
    ///
    /// - Throws: `AdminClient.Failure`.
    package func keys(of name: String) async throws -> [String] {
        let list = try JSONValue(parsing: try await client.ask("GET", path(name) + "/keys").body)
        return list["items"].elements.map { key in
            [
                key["id"].description, key["ending"].description, key["createdAt"].time,
                key["createdBy"].description, key["expiresAt"].time,
            ].joined(separator: "\t")
        }
    }

    /// Revokes a key.
    ///
    /// - Throws: `AdminClient.Failure`.
    package func revokeKey(_ id: String, of name: String) async throws {
        _ = try await client.ask("DELETE", path(name) + "/keys/\(id.escapedForURL)")
    }

    /// Does nothing: each request has a connection of its own.
    package func close() {}

    private func path(_ name: String) -> String { "/applications/\(name.escapedForURL)" }

    private func member(_ name: String, of answer: AdminClient.Answer) throws -> String {
        try JSONValue(parsing: answer.body)[name].description
    }
}

extension JSONValue {
    /// One line per member of an object: its name and, after a tab, its value.
    var memberLines: [String] {
        guard case .object(let members) = self else { return [] }
        return members.sorted { $0.key < $1.key }.map { "\($0.key)\t\($0.value)" }
    }
}
