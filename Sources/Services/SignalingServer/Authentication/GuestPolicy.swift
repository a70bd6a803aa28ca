package import CallControl
package import GatewayAPI

/// Who may come as a guest, and how a guest says whom it wants to call (spidr-wire §2, §7).
package struct GuestPolicy: Equatable, Sendable {
    package enum Mode: String, CaseIterable, Sendable {
        /// There are no guests.
        case off
        /// Whoever knows an account may call it.
        case open
        /// Accounts are named by tokens, which only the owner of a realm's key can make.
        case token
    }

    package var mode = Mode.off
    package var realms: [CallMeRealm] = []
    /// How far the time in a token may be from now, either way, when something begins with it.
    package var tokenWindow = Duration.seconds(300)

    package init() {}

    /// The address that a guest names, in the path, in `from` or in `to`.
    ///
    /// - Parameters:
    ///   - text: an address or a token, as the mode wants.
    ///   - realm: the query `tokenrealm`.
    ///   - isBeginning: whether a subscription or a call begins. What has begun goes on with the tokens it began with: a call
    ///     may last longer than any window.
    package func address(
        _ text: String, realm: String?, isBeginning: Bool, defaultDomain: String, atUnixMilliseconds now: Int64
    ) throws(APIError) -> UserAddress {
        switch mode {
        case .off:
            throw .anonymousNotOffered
        case .open:
            guard let address = UserAddress(parsing: text, defaultDomain: defaultDomain) else {
                throw APIError(.requestInvalidValue, "Guests name an account by an address such as ann@example.com.")
            }
            return address
        case .token:
            guard let realm = realms.first(where: { $0.name == realm }) else {
                throw APIError(
                    .anonymousUnknownRealm,
                    "Every request of a guest needs the query \"tokenrealm\" with a realm known here.")
            }
            guard let token = realm.read(text, defaultDomain: defaultDomain) else {
                throw APIError(.anonymousInvalidToken, "This is no token of the realm that \"tokenrealm\" names.")
            }
            guard !isBeginning || token.isCurrent(atUnixMilliseconds: now, window: tokenWindow) else {
                throw APIError(
                    .anonymousTokenExpired,
                    "The token was made too long ago, or by a clock that is ahead; get a new one.")
            }
            return token.address
        }
    }
}

extension APIError {
    package static let anonymousNotOffered = APIError(
        .anonymousNotOffered, "Anonymous calls are not offered by this gateway.")
}
