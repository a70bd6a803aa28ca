package import CallControl

/// What a token must say to be accepted, besides that a known key has signed it.
package struct TokenPolicy: Equatable, Sendable {
    /// What `iss` must be; `nil`: tokens of any issuer that has a key.
    package var issuer: String?
    /// What `aud` must be or have among its texts; `nil`: tokens for any audience.
    package var audience: String?
    /// The claim that names the user: `user@domain`, or a name in the default domain.
    package var userClaim = "sub"
    /// The claim that lists the services which the user may subscribe to; `nil`: all that are offered.
    package var servicesClaim: String?
    /// How far the clocks of issuer and gateway may differ when `exp` and `nbf` are compared; 0 or more.
    package var clockSkew = Duration.seconds(30)

    /// Makes a policy with the default values.
    package init() {}

    /// Whom an accepted token is for.
    package struct Bearer: Equatable, Sendable {
        /// The user that the token names. Whether there is such an account is not known.
        package let user: UserAddress
        /// The time in `exp`, in whole seconds since 1970.
        package let expires: Int64
        /// The services that the token allows, in lower case; `nil`: all that are offered.
        package let services: Set<String>?

        /// Makes a bearer of its parts.
        package init(user: UserAddress, expires: Int64, services: Set<String>? = nil) {
            self.user = user
            self.expires = expires
            self.services = services
        }
    }

    /// Decides whom a token is for.
    ///
    /// - Parameters:
    ///   - text: the token as it was sent.
    ///   - defaultDomain: completes a user without a domain.
    ///   - now: the time on the wall clock, in milliseconds since 1970.
    /// - Throws: what is found wrong first: with the form, the key, the signature, the times, issuer and audience, or
    ///   the user; never `unknownUser`.
    package func bearer(
        of text: String, keys: TokenKeySet, defaultDomain: String, atUnixMilliseconds now: Int64
    ) throws(TokenError) -> Bearer {
        let token = try BearerToken(parsing: text)
        let claims = try token.claims(provenBy: keys.key(for: token))
        let time = Double(now) / 1_000
        let skew = clockSkew / .seconds(1)
        guard let expires = claims["exp"]?.amount, abs(expires) < Self.timeLimit else { throw .noExpiry }
        guard time < expires + skew else { throw .expired }
        if let start = claims["nbf"] {
            guard let start = start.amount else { throw .malformedStart }
            guard start <= time + skew else { throw .notYetValid }
        }
        if let issuer {
            guard claims["iss"]?.text?.utf8.elementsEqual(issuer.utf8) == true else { throw .wrongIssuer }
        }
        if let audience, !Self.audiences(claims["aud"]).contains(where: { $0.utf8.elementsEqual(audience.utf8) }) {
            throw .wrongAudience
        }
        guard let name = claims[userClaim]?.text, let user = UserAddress(parsing: name, defaultDomain: defaultDomain)
        else { throw .noUser }
        return Bearer(
            user: user, expires: Int64(expires.rounded(.down)),
            services: try servicesClaim.map { claim throws(TokenError) in try Self.services(claims[claim]) })
    }

    /// A list of texts, or one text with spaces between the names (as `scope` in RFC 8693 §4.2). A token that says
    /// nothing about services allows none.
    private static func services(_ claim: StrictJSON?) throws(TokenError) -> Set<String> {
        guard let claim else { return [] }
        if let text = claim.text { return Set(text.split(separator: " ").map { $0.lowercased() }) }
        let elements = claim.elements ?? []
        let texts = elements.compactMap(\.text)
        guard claim.elements != nil, texts.count == elements.count else { throw .malformedServices }
        return Set(texts.map { $0.lowercased() })
    }

    /// Times beyond this many seconds since 1970 are none. Up to here they are whole numbers of a `Double`.
    private static let timeLimit = Double(1 << 53)

    /// A text or a list of texts (RFC 7519 §4.1.3). A list that has anything else names nobody.
    private static func audiences(_ claim: StrictJSON?) -> [String] {
        if let text = claim?.text { return [text] }
        let elements = claim?.elements ?? []
        let texts = elements.compactMap(\.text)
        return texts.count == elements.count ? texts : []
    }
}
