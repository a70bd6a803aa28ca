package import CallControl
package import GatewayAPI
internal import Registration

/// Whether guests are admitted, and how a guest names the account it wants to call (spidr-wire §2, §7).
package struct GuestPolicy: Equatable, Sendable {
    /// The values of `anonymous.mode`.
    package enum Mode: String, CaseIterable, Sendable {
        /// Guests are refused.
        case off
        /// Every guest that knows an account may call it.
        case open
        /// Guests name an account by a token, which only the owners of a realm's key can make.
        case token
    }

    /// How guests are admitted.
    package var mode = Mode.off
    /// The realms whose tokens are accepted; used with ``Mode/token`` only.
    package var realms: [CallMeRealm] = []
    /// How far the time in a token may be from now, in either direction, when a subscription or call starts with it.
    package var tokenWindow = Duration.seconds(300)

    /// Makes a policy that refuses guests.
    package init() {}

    /// What an address in the path, in `from` or in `to` tells of a guest.
    package struct Pass: Equatable, Sendable {
        /// The address.
        package let address: UserAddress
        /// The signed token that stands for it; `nil`: an encrypted one, or the address itself.
        package var signed: SignedCallMeToken?
    }

    /// The address that a guest gives, in the path, in `from` or in `to`.
    ///
    /// - Parameters:
    ///   - text: an address or a token, as the mode requires.
    ///   - realm: the query `tokenrealm`; `nil` if there is none.
    ///   - isStart: whether a subscription or a call starts. Only then the token must be recent: an existing call goes
    ///     on with the tokens that it was started with, and may last longer than any window.
    ///   - defaultDomain: completes an address without a domain.
    ///   - now: milliseconds since 1970.
    /// - Throws: `anonymous.not_offered`; with ``Mode/open`` `request.invalid_value`; with ``Mode/token``
    ///   `anonymous.unknown_realm`, `anonymous.invalid_token` or `anonymous.token_expired`.
    package func pass(
        _ text: String, realm: String?, isStart: Bool, defaultDomain: String, atUnixMilliseconds now: Int64
    ) throws(APIError) -> Pass {
        switch mode {
        case .off:
            throw .anonymousNotOffered
        case .open:
            guard let address = UserAddress(parsing: text, defaultDomain: defaultDomain) else {
                throw APIError(.requestInvalidValue, "Guests name an account by an address such as ann@example.com.")
            }
            return Pass(address: address)
        case .token:
            guard let realm = realms.first(where: { $0.name == realm }) else {
                throw APIError(
                    .anonymousUnknownRealm,
                    "Every request of a guest needs the query \"tokenrealm\" with a realm known here.")
            }
            guard let token = realm.read(text, defaultDomain: defaultDomain) else {
                throw APIError(.anonymousInvalidToken, "This is no token of the realm that \"tokenrealm\" names.")
            }
            switch token {
            case .encrypted(let token):
                guard !isStart || token.isCurrent(atUnixMilliseconds: now, window: tokenWindow) else {
                    throw APIError(
                        .anonymousTokenExpired,
                        "The token was made too long ago, or by a clock that is ahead; get a new one.")
                }
                return Pass(address: token.address)
            case .signed(let token):
                guard !isStart || now < token.expiresAt else {
                    throw APIError(.anonymousTokenExpired, "The token has expired; get a new one.")
                }
                return Pass(address: token.callee, signed: token)
            }
        }
    }
}

extension APIError {
    /// The refusal of all guests where `anonymous.mode` is `off`.
    package static let anonymousNotOffered = APIError(
        .anonymousNotOffered, "Anonymous calls are not offered by this gateway.")
}
