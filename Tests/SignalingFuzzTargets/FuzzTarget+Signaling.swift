package import FuzzTargets

extension FuzzTarget {
    /// The parsers of the signalling server, which brings packages with it that the others do without.
    package static let signaling = [
        FuzzTarget(name: "bearer-token", run: fuzzBearerToken),
        FuzzTarget(name: "client-frames", run: fuzzClientFrames),
        FuzzTarget(name: "compressed-message", run: fuzzCompressedMessage),
        FuzzTarget(name: "deflate-offer", run: fuzzDeflateOffer),
        FuzzTarget(name: "forwarded-for", run: fuzzForwardedFor),
        FuzzTarget(name: "proxy-header", run: fuzzProxyHeader),
        FuzzTarget(name: "realm-file", run: fuzzRealmFile),
        FuzzTarget(name: "signed-callme-token", run: fuzzSignedCallMeToken),
    ]
}
