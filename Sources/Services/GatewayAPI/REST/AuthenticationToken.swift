import SPiDR

/// `authenticationTokenRequest`: an application server wants a token that logs a user in (spidr-wire §2).
package struct AuthenticationTokenRequest: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "authenticationTokenRequest"

    /// The user, without the domain.
    package var subscriberId: String
    /// The domain of the user.
    package var organizationId: String
}

/// `authenticationTokenResponse`: the token (spidr-wire §2).
package struct AuthenticationTokenResponse: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "authenticationTokenResponse"

    /// What the client sends as `x-token`, once.
    package var token: String

    /// Makes the answer with a token.
    package init(token: String) { self.token = token }
}
