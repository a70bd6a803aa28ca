import SignalingServer

extension ConfigurationKey {
    /// Bearer tokens.
    static let tokens = [
        ConfigurationKey(
            "auth", "token_keys", \.tokenKeysPath, ValueFormat.path.orNone("none", "bearer tokens are refused"),
            "File with the keys that bearer tokens (JWT) are signed with: a JWK Set, or one public key in PEM; read again when it changes."
        ),
        ConfigurationKey(
            "auth", "token_issuer", \.tokens.issuer, ValueFormat.claim.orNone("any", "not compared"),
            "What iss of a token must be."),
        ConfigurationKey(
            "auth", "token_audience", \.tokens.audience, ValueFormat.claim.orNone("any", "not compared"),
            "What aud of a token must be or contain."),
        ConfigurationKey(
            "auth", "token_user_claim", \.tokens.userClaim, .claim,
            "The claim that names the user: user@domain, or a name in registration.domain."),
        ConfigurationKey(
            "auth", "token_services_claim", \.tokens.servicesClaim, ValueFormat.claim.orNone("none", "all services"),
            "The claim that lists the services which the user may subscribe to, as a list or a text with spaces."),
        ConfigurationKey(
            "auth", "token_clock_skew", \.tokens.clockSkew, .duration(.zero...(.seconds(300))),
            "How far the clocks of the issuer and of the gateway may differ."),
        ConfigurationKey(
            "auth", "application_token_time", \.applicationTokenTime, .duration(.seconds(10)...(.seconds(86_400))),
            "How long a token that an application gets for a user (`orbweaver app`) may be used."),
    ]
}

extension ValueFormat<String> {
    /// A text in a token; it is compared byte by byte.
    fileprivate static let claim = ValueFormat(
        "a text", parseText: { $0.isEmpty ? nil : $0 }, writeText: { $0 })
}
