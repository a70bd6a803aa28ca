import CallControl
import CallRuntime
import GatewayAPI
import Logging
import Observability
import Primitives

/// Reads the account of a login, and what the login is held against.
struct LoginRecords: Sendable {
    /// A login: the account that it is for, and the name that was used.
    struct Login: Sendable {
        /// The account; it may not exist.
        let user: UserAddress
        let password: Redacted<String>
        /// The auth name that was used; `nil`: the address.
        let authName: AuthName?
    }

    /// What a login of a user is held against.
    struct Record: Sendable {
        let password: String
        let authName: AuthName?

        /// The same with another record of the password.
        func replacing(password: String) -> Record { Record(password: password, authName: authName) }

        /// Differs if the password or the auth name does, so that remembered logins end with either.
        var text: String { authName.map { "\(password)\n\($0)" } ?? password }
    }

    /// The stored accounts.
    let users: any UserRepository
    let logger: Logger

    /// Finds the account of a login. A bare name may be the auth name of an account; if no account has it, it is short
    /// for an address of the default domain.
    func login(of credentials: BasicCredentials) async -> Result<Login, APIError> {
        let byAddress = Login(user: credentials.user, password: credentials.password, authName: nil)
        guard credentials.isBareName, let name = AuthName(String(credentials.user.user)) else {
            return .success(byAddress)
        }
        do throws(StorageError) {
            guard let account = try await users.user(named: name) else { return .success(byAddress) }
            return .success(Login(user: account.address, password: credentials.password, authName: name))
        } catch {
            return .failure(unreadable(error))
        }
    }

    /// The stored record of a user; `nil` if there is no such user.
    func record(of user: UserAddress) async -> Result<Record?, APIError> {
        do throws(StorageError) {
            return .success(
                try await users.user(user).map { Record(password: $0.passwordRecord, authName: $0.authName) })
        } catch {
            return .failure(unreadable(error))
        }
    }

    private func unreadable(_ error: StorageError) -> APIError {
        logger.error("user cannot be read", metadata: [LogKey.error: "\(error)"])
        return .unavailable
    }
}
