import CallControl
import CallRuntime
import Cryptography
import Observability
import Storage

/// What `orbweaver user` does: changes to the database file, also while a gateway has it open.
package struct UserAdministration: Sendable {
    package struct Refusal: Error, Equatable, CustomStringConvertible {
        package var description: String

        package init(description: String) { self.description = description }
    }

    private let database: GatewayDatabase

    package init(_ configuration: GatewayConfiguration) throws(Refusal) {
        do {
            database = try GatewayDatabase(
                .file(configuration.storagePath), logger: configuration.log.makeLogger(label: "orbweaver"))
        } catch {
            throw Refusal(error)
        }
    }

    package func add(_ address: String, password: String, displayName: String) async throws(Refusal) {
        let user = StoredUser(
            address: try parsed(address), passwordRecord: try Self.record(of: password), displayName: displayName)
        try await perform { users throws(StorageError) in try await users.add(user) }
    }

    /// One line per user: the address, and the display name if there is one.
    package func list() async throws(Refusal) -> [String] {
        var lines: [String] = []
        try await perform { users throws(StorageError) in
            lines = try await users.allUsers().map {
                $0.displayName.isEmpty ? $0.address.text : "\($0.address.text)\t\($0.displayName)"
            }
        }
        return lines
    }

    package func setPassword(_ password: String, of address: String) async throws(Refusal) {
        let address = try parsed(address)
        let record = try Self.record(of: password)
        try await perform { users throws(StorageError) in try await users.setPassword(record, of: address) }
    }

    package func remove(_ address: String) async throws(Refusal) {
        let address = try parsed(address)
        try await perform { users throws(StorageError) in try await users.remove(address) }
    }

    package func close() throws(Refusal) {
        do {
            try database.close()
        } catch {
            throw Refusal(error)
        }
    }

    private func perform(_ body: (UserStore) async throws(StorageError) -> Void) async throws(Refusal) {
        do {
            try await body(database.users)
        } catch {
            throw Refusal(error)
        }
    }

    private func parsed(_ text: String) throws(Refusal) -> UserAddress {
        guard let address = UserAddress(parsing: text) else {
            throw Refusal(description: "\(text) is no address; write it in full, such as alice@example.com")
        }
        return address
    }

    private static func record(of password: String) throws(Refusal) -> String {
        var random = SecureRandomSource()
        do {
            return try PasswordHash(of: password, random: &random).text
        } catch {
            throw Refusal(description: "there is no memory to hash a password")
        }
    }
}

extension UserAdministration.Refusal {
    fileprivate init(_ error: StorageError) {
        description =
            switch error {
            case .userExists(let address): "\(address) exists already; `orbweaver user passwd` changes the password"
            case .noSuchUser, .failed: error.description
            }
    }
}
