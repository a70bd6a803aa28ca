package import FuzzTargets

extension FuzzTarget {
    /// The parsers of the signalling server, the administration server, the server of applications and the push client,
    /// which bring packages and libraries with them that the others do without.
    package static let signaling = [
        FuzzTarget(name: "admin-body", run: fuzzAdminBody),
        FuzzTarget(name: "bearer-token", run: fuzzBearerToken),
        FuzzTarget(name: "client-frames", run: fuzzClientFrames),
        FuzzTarget(name: "compressed-message", run: fuzzCompressedMessage),
        FuzzTarget(name: "deflate-offer", run: fuzzDeflateOffer),
        FuzzTarget(name: "forwarded-for", run: fuzzForwardedFor),
        FuzzTarget(name: "proxy-header", run: fuzzProxyHeader),
        FuzzTarget(name: "push-answer", run: fuzzPushAnswer),
        FuzzTarget(name: "realm-file", run: fuzzRealmFile),
        FuzzTarget(name: "signed-callme-token", run: fuzzSignedCallMeToken),
        FuzzTarget(name: "user-file", run: fuzzUserFile),
        FuzzTarget(name: "v1-body", run: fuzzV1Body),
    ]
}
