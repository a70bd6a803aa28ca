/// A parser, or a machine fed with bytes, that no input may trap: what a fuzzer and the replay of its finds call.
package struct FuzzTarget: Sendable, CustomStringConvertible {
    /// As `scripts/fuzz` and the folders of `fixtures/fuzz` name it.
    package let name: String
    private let body: @Sendable (Span<UInt8>) -> Void

    package init(name: String, run body: @escaping @Sendable (Span<UInt8>) -> Void) {
        self.name = name
        self.body = body
    }

    package func run(_ input: [UInt8]) { body(input.span) }

    package var description: String { name }

    /// What needs no package of others: a new target is a line here, or in `signaling` of SignalingFuzzTargets.
    package static let core = [
        FuzzTarget(name: "basic-credentials", run: fuzzBasicCredentials),
        FuzzTarget(name: "bridge", run: fuzzBridge),
        FuzzTarget(name: "callme-token", run: fuzzCallMeToken),
        FuzzTarget(name: "calls", run: fuzzCalls),
        FuzzTarget(name: "candidate", run: fuzzCandidate),
        FuzzTarget(name: "client-flight", run: fuzzClientFlight),
        FuzzTarget(name: "comfort-noise", run: fuzzComfortNoise),
        FuzzTarget(name: "frames", run: fuzzFrames),
        FuzzTarget(name: "gateway-request", run: fuzzGatewayRequest),
        FuzzTarget(name: "handshake-record", run: fuzzHandshakeRecord),
        FuzzTarget(name: "ice-lite-agent", run: fuzzICELiteAgent),
        FuzzTarget(name: "mp3", run: fuzzMP3),
        FuzzTarget(name: "ogg-opus", run: fuzzOggOpus),
        FuzzTarget(name: "payload", run: fuzzPayload),
        FuzzTarget(name: "playout", run: fuzzPlayout),
        FuzzTarget(name: "route", run: fuzzRoute),
        FuzzTarget(name: "rtcp", run: fuzzRTCP),
        FuzzTarget(name: "rtp", run: fuzzRTP),
        FuzzTarget(name: "sdp", run: fuzzSDP),
        FuzzTarget(name: "stream-frames", run: fuzzStreamFrames),
        FuzzTarget(name: "stun", run: fuzzSTUN),
        FuzzTarget(name: "telephone-events", run: fuzzTelephoneEvents),
        FuzzTarget(name: "trickled-candidate", run: fuzzTrickledCandidate),
        FuzzTarget(name: "user-address", run: fuzzUserAddress),
        FuzzTarget(name: "wave", run: fuzzWave),
    ]
}
