import Foundation

/// What `orbweaver app` can do, through a running gateway or with the database file.
package protocol ApplicationCommands: Sendable {
    /// Adds an application, and returns its new secret.
    func add(_ name: String, domain: String) async throws -> String
    /// One line per application: its name and, after a tab, its domain.
    func list() async throws -> [String]
    /// Replaces the secret of an application, and returns the new one.
    func rotateSecret(of name: String) async throws -> String
    /// Removes an application and the tokens that it has got.
    func remove(_ name: String) async throws
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
    package func add(_ name: String, domain: String) async throws -> String {
        let wish = Array(try JSONEncoder().encode(["name": name, "domain": domain]))
        return try secret(in: try await client.ask("POST", "/applications", wish))
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

    /// Replaces the secret of an application.
    ///
    /// - Throws: `AdminClient.Failure`.
    package func rotateSecret(of name: String) async throws -> String {
        try secret(in: try await client.ask("POST", "/applications/\(name.escapedForURL)/secret", []))
    }

    /// Removes an application.
    ///
    /// - Throws: `AdminClient.Failure`.
    package func remove(_ name: String) async throws {
        _ = try await client.ask("DELETE", "/applications/\(name.escapedForURL)")
    }

    /// Does nothing: each request has a connection of its own.
    package func close() {}

    private func secret(in answer: AdminClient.Answer) throws -> String {
        try JSONValue(parsing: answer.body)["secret"].description
    }
}
