import Foundation

/// What `orbweaver user` can do, through a running gateway or with the database file.
package protocol UserCommands: Sendable {
    /// Adds a user; `authName` of `nil`: the user logs in with the address.
    func add(_ address: String, password: String, displayName: String, authName: String?) async throws
    /// One line per user: the address and, after a tab each, the display name, the auth name and `disabled`, as far as
    /// there are any.
    func list() async throws -> [String]
    /// Replaces the password of a user.
    func setPassword(_ password: String, of address: String) async throws
    /// Gives a user an auth name; `nil` takes it away.
    func setAuthName(_ name: String?, of address: String) async throws
    /// Lets a user log in, or not any more.
    func setEnabled(_ isEnabled: Bool, _ address: String) async throws
    /// Removes a user.
    func remove(_ address: String) async throws
    /// Ends the use of the database; nothing else is to be called afterwards.
    func close() throws
}

/// `orbweaver user` through the administration interface of a running gateway, which the change reaches at once.
package struct RemoteUsers: UserCommands {
    private let client: AdminClient

    /// Makes commands that a client sends.
    package init(_ client: AdminClient) { self.client = client }

    private struct User: Codable {
        var address: String?
        var password: String?
        var displayName: String?
        var authName: String?
        var enabled: Bool?
    }

    private struct AuthNameChange: Encodable {
        var authName: String?

        private enum CodingKeys: CodingKey { case authName }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            // `null` takes the name away.
            try container.encode(authName, forKey: .authName)
        }
    }

    /// Adds a user.
    ///
    /// - Throws: `AdminClient.Failure`.
    package func add(_ address: String, password: String, displayName: String, authName: String?) async throws {
        let user = User(address: address, password: password, displayName: displayName, authName: authName)
        _ = try await client.ask("POST", "/users", try body(user))
    }

    /// One line per user.
    ///
    /// - Throws: `AdminClient.Failure`.
    package func list() async throws -> [String] {
        struct Page: Decodable {
            var items: [User]
            var next: String?
        }
        var lines: [String] = []
        var cursor = ""
        while true {
            let answer = try await client.ask("GET", "/users?limit=1000" + cursor)
            let page = try JSONDecoder().decode(Page.self, from: Data(answer.body))
            lines += page.items.map {
                UserLine.text(
                    $0.address ?? "", displayName: $0.displayName ?? "", authName: $0.authName,
                    isEnabled: $0.enabled ?? true)
            }
            guard let next = page.next else { return lines }
            cursor = "&cursor=" + next
        }
    }

    /// Replaces the password of a user.
    ///
    /// - Throws: `AdminClient.Failure`.
    package func setPassword(_ password: String, of address: String) async throws {
        try await change(address, User(password: password))
    }

    /// Gives a user an auth name, or takes it away.
    ///
    /// - Throws: `AdminClient.Failure`.
    package func setAuthName(_ name: String?, of address: String) async throws {
        try await change(address, AuthNameChange(authName: name))
    }

    /// Lets a user log in, or not any more.
    ///
    /// - Throws: `AdminClient.Failure`.
    package func setEnabled(_ isEnabled: Bool, _ address: String) async throws {
        try await change(address, User(enabled: isEnabled))
    }

    /// Removes a user.
    ///
    /// - Throws: `AdminClient.Failure`.
    package func remove(_ address: String) async throws {
        _ = try await client.ask("DELETE", "/users/\(address.escapedForURL)")
    }

    /// Does nothing: each request has a connection of its own.
    package func close() {}

    private func change(_ address: String, _ change: some Encodable) async throws {
        _ = try await client.ask("PATCH", "/users/\(address.escapedForURL)", try body(change))
    }

    private func body(_ value: some Encodable) throws -> [UInt8] { Array(try JSONEncoder().encode(value)) }
}

/// A user in the list of `orbweaver user list`.
enum UserLine {
    static func text(_ address: String, displayName: String, authName: String?, isEnabled: Bool) -> String {
        var fields = [address, displayName, authName ?? "", isEnabled ? "" : "disabled"]
        while fields.last == "" { fields.removeLast() }
        return fields.joined(separator: "\t")
    }
}
