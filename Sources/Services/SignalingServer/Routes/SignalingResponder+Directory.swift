import CallControl
import CallRuntime
import GatewayAPI
import HTTPTypes
import Logging
import Observability

/// The directory of users, and the user's own profile (spidr-wire §10).
extension SignalingResponder {
    /// The most users in one answer. Who looks for one of many says more of the name.
    private static let directoryLimit = 100

    /// The fields of the protocol by number: `criteriaType`.
    private static let criteria: [String: DirectoryQuery.Field] = [
        "-1": .any, "1": .firstName, "2": .lastName, "3": .name, "4": .user, "5": .user,
    ]

    func searchDirectory(_ exchange: RequestExchange) async throws(APIError) -> Answer {
        guard let field = Self.criteria[exchange.query("criteriaType") ?? "-1"] else {
            throw APIError(.requestInvalidValue, "\"criteriaType\" must be -1, or 1 to 5.")
        }
        let user = exchange.account
        let query = DirectoryQuery(exchange.query("criteria") ?? "", in: field, of: String(user.domain))
        let found = try await readingUsers { (users) async throws(StorageError) in
            try await users.search(query, limit: Self.directoryLimit)
        }
        let people = found.map { PersonField($0.address, displayName: $0.displayName) }
        return .json(.ok, WireJSON.encode(wrapping: DirectoryResponse(people)))
    }

    func queryProfile(_ exchange: RequestExchange) async throws(APIError) -> Answer {
        let user = exchange.account
        let found = try await readingUsers { (users) async throws(StorageError) in try await users.user(user) }
        guard let found else { throw .usersUnavailable }
        return .json(
            .ok,
            WireJSON.encode(
                wrapping: UserProfileResponse(displayName: found.displayName, services: registrar.services)))
    }

    private func readingUsers<Value>(
        _ read: (WatchedUsers) async throws(StorageError) -> Value
    ) async throws(APIError) -> Value {
        guard let users else { throw .usersUnavailable }
        do throws(StorageError) {
            return try await read(users)
        } catch {
            logger.error("users cannot be read", metadata: [LogKey.error: "\(error)"])
            throw .usersUnavailable
        }
    }
}

extension APIError {
    fileprivate static var usersUnavailable: APIError {
        APIError(.authUnavailable, "The users cannot be read now; try again later.", retryAfter: APIError.backOff)
    }
}
