package import CallControl
package import CallRuntime
import Cryptography
import Primitives

/// What a token says that an application has signed for itself with its secret, so that the secret need not be where
/// requests are made: which scopes it gives.
///
/// It is a JSON Web Token (RFC 7519) under HS256. `iss` is the name of the application, `exp` is at most an hour ahead,
/// and `scope` lists scopes, with spaces between (RFC 8693 §4.2); without it the token gives all that the application
/// has. `aud`, if it is there, is `v1`.
package struct SignedApplicationToken: Equatable, Sendable {
    /// The scopes that it gives.
    package let scopes: Set<ApplicationScope>

    /// How far ahead `exp` may be.
    package static let longestTime = Duration.seconds(3_600)
    /// How far the clocks of application and gateway may differ.
    package static let clockSkew = Duration.seconds(30)
    /// What `aud` must be, if it is there (RFC 8725 §3.9).
    package static let audience = "v1"

    /// Checks a token of an application.
    ///
    /// - Parameters:
    ///   - application: the one that `iss` names.
    ///   - now: milliseconds since 1970.
    /// - Throws: what is found wrong first.
    package init(
        _ token: BearerToken, of application: StoredApplication, atUnixMilliseconds now: Int64
    ) throws(TokenError) {
        guard token.algorithm == .hs256 else { throw .wrongAlgorithm }
        let claims = try Self.claims(of: token, application.secrets(at: now).map { Array($0.value.utf8) })
        let (time, skew) = (Double(now) / 1_000, Self.clockSkew / .seconds(1))
        guard let expires = claims["exp"]?.amount else { throw .noExpiry }
        guard time < expires + skew else { throw .expired }
        guard expires <= time + Self.longestTime / .seconds(1) + skew else { throw .validTooLong }
        if let start = claims["nbf"] {
            guard let start = start.amount else { throw .malformedStart }
            guard start <= time + skew else { throw .notYetValid }
        }
        guard claims["iss"]?.text == application.name.description else { throw .wrongIssuer }
        if let audience = claims["aud"] { guard audience.text == Self.audience else { throw .wrongAudience } }
        guard let claim = claims["scope"] else {
            scopes = application.profile.scopes
            return
        }
        guard let text = claim.text else { throw .wrongScope }
        var scopes: Set<ApplicationScope> = []
        for word in text.split(separator: " ") {
            guard let scope = ApplicationScope(rawValue: String(word)), application.profile.scopes.contains(scope)
            else {
                throw .wrongScope
            }
            scopes.insert(scope)
        }
        self.scopes = scopes
    }

    /// The claims, if one of the secrets has signed them.
    private static func claims(
        of token: BearerToken, _ secrets: [[UInt8]]
    ) throws(TokenError) -> [String: StrictJSON] {
        for secret in secrets {
            guard let key = try? SignatureKey(secret: secret) else { continue }
            do throws(TokenError) {
                return try token.claims(provenBy: key)
            } catch {
                guard error == .badSignature else { throw error }
            }
        }
        throw .badSignature
    }
}
