package import GatewayAPI

/// Why a token is refused.
package enum TokenError: Error, Equatable, Sendable, CaseIterable {
    // Found without a key. Whoever sends such a token may be guessing.
    /// The token is longer than ``BearerToken/sizeLimit``.
    case tooLarge
    /// The text is not a signed token, or a part of it is not what it must be.
    case malformed
    /// The algorithm is `none`, or another that is not accepted.
    case unsupportedAlgorithm
    /// The header has extensions that must be understood (RFC 7515 §4.1.11). None is.
    case critical
    /// The header says that the token is something else than an access token.
    case wrongType
    /// There is no key of that name.
    case unknownKey
    /// The token names no key, and not exactly one is for its algorithm.
    case ambiguousKey
    /// The key is for another algorithm than the header names.
    case wrongAlgorithm
    /// The signature is not that of the key.
    case badSignature

    // Found in a token that one of the keys has signed.
    /// There is no `exp`, or it is not a number.
    case noExpiry
    /// The time in `exp` has passed.
    case expired
    /// The time in `nbf` is still to come.
    case notYetValid
    /// `nbf` is not a number.
    case malformedStart
    /// `iss` is not the issuer that is configured.
    case wrongIssuer
    /// `aud` does not have the audience that is configured.
    case wrongAudience
    /// The claim with the user is missing, or no address.
    case noUser
    /// The claim that lists services is neither a text nor a list of texts.
    case malformedServices
    /// There is no account of that name.
    case unknownUser
    /// The token of an application is valid for longer than such a token may be.
    case validTooLong
    /// The token of an application lists a scope that the application does not have.
    case wrongScope

    /// Whether one of the keys has signed the token, so that it is no guess.
    var isGenuine: Bool {
        switch self {
        case .tooLarge, .malformed, .unsupportedAlgorithm, .critical, .wrongType, .unknownKey, .ambiguousKey,
            .wrongAlgorithm, .badSignature:
            false
        case .noExpiry, .expired, .notYetValid, .malformedStart, .wrongIssuer, .wrongAudience, .noUser,
            .malformedServices, .unknownUser, .validTooLong, .wrongScope:
            true
        }
    }

    /// What is wrong, for the client. It names neither keys nor what is configured.
    private var sentence: String {
        switch self {
        case .tooLarge: "The token is longer than \(BearerToken.sizeLimit) bytes."
        case .malformed: "The token is not a signed JSON Web Token."
        case .unsupportedAlgorithm: "The token's algorithm is not HS256, RS256, ES256 or EdDSA."
        case .critical: "The token's header has critical extensions; none is known here."
        case .wrongType: "The token's header says that it is no access token."
        case .unknownKey: "The key that the token names is not known here."
        case .ambiguousKey: "The token does not say with \"kid\" which key it is signed with."
        case .wrongAlgorithm: "The token's algorithm is not that of its key."
        case .badSignature: "The token's signature is wrong."
        case .noExpiry: "The token has no \"exp\" with the time of its end."
        case .expired: "The token has expired; get a new one."
        case .notYetValid: "The token is not valid yet."
        case .malformedStart: "The token's \"nbf\" is not a time."
        case .wrongIssuer: "The token is from another issuer."
        case .wrongAudience: "The token is for another audience."
        case .noUser: "The token does not name a user."
        case .malformedServices: "The token does not list services as texts."
        case .unknownUser: "The token's user has no account here."
        case .validTooLong: "The token's \"exp\" is more than an hour ahead."
        case .wrongScope: "The token's \"scope\" is no text, or lists a scope that the application does not have."
        }
    }

    /// The refusal of the request that the token came with.
    package var refusal: APIError {
        APIError(self == .expired ? .authTokenExpired : .authInvalidToken, sentence)
    }
}
