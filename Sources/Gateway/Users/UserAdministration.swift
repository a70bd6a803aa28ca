import CallControl
import CallRuntime
import Cryptography
import Logging
import Observability
import Storage

/// What `orbweaver user` does to the database, also while a gateway runs on it.
package struct UserAdministration {
    private let database: GatewayDatabase
    private let domain: String

    package init(_ configuration: GatewayConfiguration) throws {
        let logger = LogOutput(level: .warning).makeLogger(label: "orbweaver")
        database = try GatewayDatabase(.file(configuration.databasePath), logger: logger)
        domain = configuration.domain
    }

    /// Addresses in alphabetical order.
    package func list() async throws -> [String] { try await database.users.allUsers().map(\.address.text) }

    package func add(_ address: String, displayName: String, password: String) async throws {
        let user = StoredUser(address: try parse(address), passwordRecord: try Self.record(password), displayName: displayName)
        try await explaining { try await database.users.add(user) }
    }

    package func setPassword(of address: String, to password: String) async throws {
        let parsed = try parse(address)
        let record = try Self.record(password)
        try await explaining { try await database.users.setPassword(record, of: parsed) }
    }

    package func remove(_ address: String) async throws {
        let parsed = try parse(address)
        try await explaining { try await database.users.remove(parsed) }
    }

    private func parse(_ address: String) throws -> UserAddress {
        guard let parsed = UserAddress(parsing: address, defaultDomain: domain) else {
            throw GatewayError("'\(address)' is no address: expected user@domain")
        }
        return parsed
    }

    private static func record(_ password: String) throws -> String {
        guard !password.isEmpty else { throw GatewayError("the password is empty") }
        var random = SecureRandomSource()
        return PasswordHash(of: password, random: &random).text
    }

    private func explaining(_ work: () async throws -> Void) async throws {
        do {
            try await work()
        } catch let error as StorageError {
            switch error {
            case .userExists(let address): throw GatewayError("\(address) exists already; 'orbweaver user passwd' changes a password")
            case .noSuchUser(let address): throw GatewayError("there is no user \(address)")
            case .failed(let text): throw GatewayError("the database refused: \(text)")
            }
        }
    }
}
