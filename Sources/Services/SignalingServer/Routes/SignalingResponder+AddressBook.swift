import CallControl
import CallRuntime
import GatewayAPI
import HTTPTypes
import Logging
import Observability
import SPiDR

/// How large address books may become.
package struct AddressBookLimits: Equatable, Sendable {
    /// The most entries of one user, 1 or more.
    package var entries = 1_000
    /// The most bytes of UTF-8 in one field of an entry, 1 or more.
    package var fieldBytes = 256

    /// Makes the default limits.
    package init() {}
}

/// The address book of a user (spidr-wire §10).
extension SignalingResponder {
    func queryAddressBook(_ exchange: RequestExchange) async throws(APIError) -> Answer {
        let (books, user) = try addressBooks(for: exchange)
        do throws(StorageError) {
            return Self.answer(.ok, AddressBookResponse(try await books.entries(of: user)))
        } catch {
            throw unusable(error)
        }
    }

    func addContacts(_ exchange: RequestExchange) async throws(APIError) -> Answer {
        let (books, user) = try addressBooks(for: exchange)
        let body = try exchange.decode(AddressBookRequest.self)
        let added = try reading { () throws(RequestFault) in try body.added(limit: bookLimits.fieldBytes) }
        try await changing { () async throws(AddressBookError) in
            try await books.add(added, to: user, limit: bookLimits.entries)
        }
        return Self.answer(.created, AddressBookResponse(added))
    }

    func queryContact(_ exchange: RequestExchange) async throws(APIError) -> Answer {
        let (books, user) = try addressBooks(for: exchange)
        let found: AddressBookEntry?
        do throws(StorageError) {
            found = try await books.entry(exchange.id, of: user)
        } catch {
            throw unusable(error)
        }
        guard let found else { throw Self.noSuchContact }
        return Self.answer(.ok, AddressBookResponse([found]))
    }

    func replaceContact(_ exchange: RequestExchange) async throws(APIError) -> Answer {
        let (books, user) = try addressBooks(for: exchange)
        let body = try exchange.decode(AddressBookRequest.self)
        let replacement = try reading { () throws(RequestFault) in
            try body.replacement(of: exchange.id, limit: bookLimits.fieldBytes)
        }
        try await changing { () async throws(AddressBookError) in
            try await books.replace(exchange.id, with: replacement, of: user)
        }
        return Self.answer(.ok, AddressBookResponse([replacement]))
    }

    func removeContact(_ exchange: RequestExchange) async throws(APIError) -> Answer {
        let (books, user) = try addressBooks(for: exchange)
        try await changing { () async throws(AddressBookError) in try await books.remove(exchange.id, of: user) }
        return Self.answer(.ok, AddressBookResponse())
    }

    /// The address books, and the user whose book is meant.
    private func addressBooks(
        for exchange: RequestExchange
    ) throws(APIError) -> (any AddressBookRepository, of: UserAddress) {
        guard case .user(let user, _, _) = exchange.principal else { preconditionFailure("guests have no such path") }
        guard let books else { throw .journalUnavailable }
        return (books, of: user)
    }

    private func reading<Value>(_ read: () throws(RequestFault) -> Value) throws(APIError) -> Value {
        do throws(RequestFault) {
            return try read()
        } catch {
            throw APIError(error)
        }
    }

    private func changing(_ change: () async throws(AddressBookError) -> Void) async throws(APIError) {
        do throws(AddressBookError) {
            try await change()
        } catch {
            switch error {
            case .noSuchEntry: throw Self.noSuchContact
            case .exists(let nickname):
                throw APIError(.contactExists, "There is an entry \"\(nickname)\" already; each nickname is unique.")
            case .full(let limit):
                throw APIError(
                    .contactLimitReached, "The address book takes \(limit) entries; remove some before adding others.")
            case .storage(let error): throw unusable(error)
            }
        }
    }

    private func unusable(_ error: StorageError) -> APIError {
        logger.error("an address book cannot be used", metadata: [LogKey.error: "\(error)"])
        return .journalUnavailable
    }

    private static let noSuchContact = APIError(
        .contactNotFound, "The address book has no entry of this nickname; nicknames are compared as they are written.")

    private static func answer(_ status: HTTPResponse.Status, _ response: AddressBookResponse) -> Answer {
        .json(status, WireJSON.encode(wrapping: response))
    }
}
