import Primitives
import SDP
import TestSupport

/// The gateway's side of a leg, the same in every run.
func testIdentity(_ number: UInt64 = 1) -> LegIdentity {
    LegIdentity(
        sessionID: 1_000 + number, canonicalName: "gateway-\(number)", streamID: "stream-\(number)",
        credentials: ICECredentials(ufrag: "gwUfrag\(number)", password: "gatewayPasswordOfLeg0000\(number)"),
        fingerprint: Fingerprint(.sha256, digest: (0..<32).map { UInt8($0) }),
        candidates: [
            "1 1 udp 2130706431 2001:db8::7 700\(number) typ host",
            "2 1 udp 2130706175 192.0.2.7 700\(number) typ host",
        ])
}

/// A caller leg and a callee leg, and what travels between them.
struct TestCall {
    var caller = LegNegotiation(identity: testIdentity(1))
    var callee = LegNegotiation(identity: testIdentity(2))
    var policy = MediaPolicy.relay
    /// What the caller offered last.
    private var offered: PeerDescription?
    var random = SeededRandomSource(seed: 20_260_101)

    init() {}

    /// A call in which the clients have wishes.
    init(caller: MediaPreferences, callee: MediaPreferences = MediaPreferences()) {
        self.caller = LegNegotiation(identity: testIdentity(1), preferences: caller)
        self.callee = LegNegotiation(identity: testIdentity(2), preferences: callee)
    }

    /// The caller's offer in, the gateway's offer to the callee out.
    mutating func offer(_ text: String) throws -> SessionDescription {
        let offer = try caller.read(text, as: .offer)
        try caller.receiveOffer(offer)
        offered = offer
        return try callee.makeOffer(mirroring: offer, policy: policy, random: &random)
    }

    /// The callee's answer in, the gateway's answer to the caller out.
    mutating func answer(_ text: String) throws -> SessionDescription {
        let answer = try callee.receiveAnswer(callee.read(text, as: .answer)).choosing(callee.preferences)
        // What the gateway refuses of an offer is not offered on, so that the answer has fewer m-lines.
        let other =
            offered?.media.count == answer.media.count ? answer : offered.map { answer.aligned(toOffer: $0) } ?? answer
        return try caller.makeAnswer(mirroring: other, policy: policy, random: &random)
    }
}

/// A peer's description, written with as little as the gateway accepts. Tests change one thing each.
struct PeerText {
    struct Line {
        var kind = "audio"
        var port = 9
        var transportProtocol = "UDP/TLS/RTP/SAVPF"
        var formats = "111 0"
        var mid: String? = "0"
        var direction: String? = "sendrecv"
        var setup: String? = "actpass"
        var attributes = ["rtcp-mux", "rtpmap:111 opus/48000/2"]

        static let audio = Line()
        static let video = Line(
            kind: "video", formats: "96 97", mid: "1",
            attributes: ["rtcp-mux", "rtpmap:96 VP8/90000", "rtpmap:97 rtx/90000", "fmtp:97 apt=96"])
    }

    var lines: [Line] = [.audio]
    var bundle: String? = "0"
    var session = ["ice-ufrag:peer", "ice-pwd:peerPasswordOf24Letters!", "fingerprint:sha-256 " + digest]

    static let digest = Array(repeating: "AB", count: 32).joined(separator: ":")

    static let audioAndVideo = PeerText(lines: [.audio, .video], bundle: "0 1")

    /// The same as an answer: `a=setup:active`.
    var answering: PeerText {
        var answer = self
        for index in answer.lines.indices where answer.lines[index].setup != nil {
            answer.lines[index].setup = "active"
        }
        return answer
    }

    var text: String {
        var text = ["v=0", "o=- 7 1 IN IP4 127.0.0.1", "s=-", "t=0 0"]
        if let bundle { text.append("a=group:BUNDLE \(bundle)") }
        text += session.map { "a=" + $0 }
        for line in lines {
            text += ["m=\(line.kind) \(line.port) \(line.transportProtocol) \(line.formats)", "c=IN IP4 0.0.0.0"]
            if let mid = line.mid { text.append("a=mid:\(mid)") }
            if let direction = line.direction { text.append("a=\(direction)") }
            if let setup = line.setup { text.append("a=setup:\(setup)") }
            text += line.attributes.map { "a=" + $0 }
        }
        return text.joined(separator: "\r\n") + "\r\n"
    }

    func read(as role: PeerDescription.Role = .offer) throws -> PeerDescription {
        try PeerDescription(reading: SessionDescription(parsing: text), as: role)
    }
}

extension SessionDescription {
    /// The lines of one m-line, for comparisons that show what differs.
    func lines(of index: Int) -> [String] {
        var alone = self
        alone.attributes = []
        alone.media = [media[index]]
        let text = alone.serialized.split(separator: "\r\n").map(String.init)
        return Array(text.drop { !$0.hasPrefix("m=") })
    }
}
