import CallControl
import CallRuntime
import Cryptography
import Observability
import SignalingServer
import Storage

/// Carries out `orbweaver user`: changes to the database file, also while a gateway has it open.
package struct UserAdministration: UserCommands {
    /// Why a command failed, in words for the operator.
    package struct Refusal: Error, Equatable, CustomStringConvertible {
        /// One line for standard error.
        package var description: String

        /// Makes a refusal of a sentence.
        package init(description: String) { self.description = description }
    }

    private let database: GatewayDatabase
    private let passwordCost: PasswordHash.Cost

    /// Opens the database that `storage.path` names.
    ///
    /// - Throws: ``Refusal`` if it cannot be opened.
    package init(_ configuration: GatewayConfiguration) throws(Refusal) {
        database = try .administered(configuration)
        passwordCost = configuration.authenticator.passwordCost
    }

    /// Adds a user.
    ///
    /// - Parameters:
    ///   - address: a full address, `user@domain`.
    ///   - displayName: the name that callees are shown; empty: none.
    ///   - authName: the name with which the user logs in; `nil`: the address.
    /// - Throws: ``Refusal`` if the address or the auth name cannot be read or is taken, or the database fails.
    package func add(
        _ address: String, password: String, displayName: String, authName: String? = nil
    ) async throws(Refusal) {
        let user = StoredUser(
            address: try parsed(address), passwordRecord: try record(of: password), displayName: displayName,
            authName: try authName.map(Self.parsed(authName:)))
        try await perform { users throws(StorageError) in try await users.add(user) }
    }

    /// One line per user: the address and, after a tab each, the display name, the auth name and `disabled`, as far as
    /// there are any. A user with an auth name and no display name has two tabs.
    ///
    /// - Throws: ``Refusal`` if the database fails.
    package func list() async throws(Refusal) -> [String] {
        var lines: [String] = []
        try await perform { users throws(StorageError) in
            lines = try await users.accounts(AccountFilter(), after: nil, limit: .max).map { account in
                UserLine.text(
                    account.user.address.text, displayName: account.user.displayName,
                    authName: account.user.authName?.text, isEnabled: account.isEnabled)
            }
        }
        return lines
    }

    /// Replaces the password of a user.
    ///
    /// - Throws: ``Refusal`` if there is no such user, or the database fails.
    package func setPassword(_ password: String, of address: String) async throws(Refusal) {
        let address = try parsed(address)
        let record = try record(of: password)
        try await perform { users throws(StorageError) in try await users.setPassword(record, of: address) }
    }

    /// Gives a user an auth name, or takes it away.
    ///
    /// - Parameter name: the name; `nil`: the user logs in with the address.
    /// - Throws: ``Refusal`` if there is no such user, the name cannot be read or is taken, or the database fails.
    package func setAuthName(_ name: String?, of address: String) async throws(Refusal) {
        let address = try parsed(address)
        let name = try name.map(Self.parsed(authName:))
        try await perform { users throws(StorageError) in try await users.setAuthName(name, of: address) }
    }

    /// Lets a user log in, or not any more.
    ///
    /// - Throws: ``Refusal`` if there is no such user, or the database fails.
    package func setEnabled(_ isEnabled: Bool, _ address: String) async throws(Refusal) {
        let address = try parsed(address)
        var change = AccountChange()
        change.isEnabled = isEnabled
        let wanted = change
        try await perform { users throws(StorageError) in try await users.change(address, wanted) }
    }

    /// Removes a user.
    ///
    /// - Throws: ``Refusal`` if there is no such user, or the database fails.
    package func remove(_ address: String) async throws(Refusal) {
        let address = try parsed(address)
        try await perform { users throws(StorageError) in try await users.remove(address) }
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

    private static func parsed(authName text: String) throws(Refusal) -> AuthName {
        guard let name = AuthName(text) else {
            throw Refusal(
                description: "\(text) is no auth name; it is at most 128 bytes long, and has no @, no : and no spaces")
        }
        return name
    }

    private func record(of password: String) throws(Refusal) -> String {
        var random = SecureRandomSource()
        do {
            return try PasswordHash(of: password, cost: passwordCost, random: &random).text
        } catch {
            throw Refusal(description: "there is no memory to hash a password")
        }
    }
}

extension UserAdministration.Refusal {
    init(_ error: StorageError) {
        description =
            switch error {
            case .userExists(let address): "\(address) exists already; `orbweaver user passwd` changes the password"
            case .applicationExists(let name): "\(name) exists already; `orbweaver app rotate` gives it a new secret"
            case .noSuchUser, .authNameTaken, .noSuchApplication, .applicationAddressTaken, .failed: error.description
            }
    }
}

extension GatewayDatabase {
    /// Opens the database that `storage.path` names, for one command.
    static func administered(
        _ configuration: GatewayConfiguration
    ) throws(UserAdministration.Refusal) -> GatewayDatabase {
        do {
            return try GatewayDatabase(
                .file(configuration.storagePath), logger: configuration.log.makeLogger(label: "orbweaver"))
        } catch {
            throw UserAdministration.Refusal(error)
        }
    }
}
