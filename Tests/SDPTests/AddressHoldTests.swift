import SDP
import Testing

/// `c=0.0.0.0`: hold of RFC 2543 §B.5, or the placeholder of a client with ICE.
struct AddressHoldTests {
    static let candidate = "a=candidate:1 1 udp 2122260223 192.0.2.7 50000 typ host"

    /// Audio and video of one peer; of the audio the port, its own lines and the lines of the session level.
    private func read(_ port: Int, session: [String] = [], _ audio: [String], video: [String] = ["c=IN IP4 0.0.0.0"])
        throws -> [MediaDirection]
    {
        var lines =
            ["v=0", "o=- 7 1 IN IP4 127.0.0.1", "s=-"] + session.filter { $0.hasPrefix("c=") } + [
                "t=0 0", "a=group:BUNDLE 0 1",
            ]
        lines += session.filter { $0.hasPrefix("a=") }
        lines += [
            "a=ice-ufrag:peer", "a=ice-pwd:peerPasswordOf24Letters!", "a=setup:actpass",
            "a=fingerprint:sha-256 " + PeerText.digest,
        ]
        lines +=
            ["m=audio \(port) UDP/TLS/RTP/SAVPF 111"] + audio + ["a=mid:0", "a=rtcp-mux", "a=rtpmap:111 opus/48000/2"]
        lines += ["m=video 9 UDP/TLS/RTP/SAVPF 96"] + video + ["a=mid:1", "a=rtcp-mux", "a=rtpmap:96 VP8/90000"]
        let text = lines.joined(separator: "\r\n") + "\r\n"
        return try PeerDescription(reading: SessionDescription(parsing: text), as: .offer).media.map(\.direction)
    }

    @Test(
        arguments: [
            // What holds.
            (49_170, [], ["c=IN IP4 0.0.0.0"], .sendOnly),
            (49_170, [], ["c=IN IP4 0.0.0.0", "a=sendrecv"], .sendOnly),
            (49_170, [], ["c=IN IP4 0.0.0.0", "a=sendonly"], .sendOnly),
            (49_170, [], ["c=IN IP4 0.0.0.0", "a=recvonly"], .inactive),
            (49_170, [], ["c=IN IP4 0.0.0.0", "a=inactive"], .inactive),
            (49_170, ["c=IN IP4 0.0.0.0"], ["a=sendrecv"], .sendOnly),
            (49_170, ["c=IN IP4 0.0.0.0", "a=recvonly"], [], .inactive),
            (49_170, ["c=IN IP4 192.0.2.7"], ["c=IN IP4 0.0.0.0"], .sendOnly),
            (49_170, [], ["c=IN IP4 0.0.0.0", "a=ice-options:trickle"], .sendOnly),
            // What does not: another address, the placeholder's port, candidates, no IPv4.
            (49_170, ["c=IN IP4 0.0.0.0"], ["c=IN IP4 192.0.2.7"], .sendReceive),
            (49_170, [], ["a=sendrecv"], .sendReceive),
            (9, [], ["c=IN IP4 0.0.0.0"], .sendReceive),
            (9, ["c=IN IP4 0.0.0.0"], ["a=recvonly"], .receiveOnly),
            (9, [], ["c=IN IP4 0.0.0.0", "a=sendonly"], .sendOnly),
            (49_170, [], ["c=IN IP4 0.0.0.0", candidate], .sendReceive),
            (9, [], ["c=IN IP4 0.0.0.0", candidate], .sendReceive),
            (49_170, [], ["c=IN IP6 ::"], .sendReceive),
        ] as [(Int, [String], [String], MediaDirection)])
    func `the address holds where it is no placeholder`(
        _ port: Int, _ session: [String], _ audio: [String], _ direction: MediaDirection
    ) throws {
        #expect(try read(port, session: session, audio)[0] == direction)
    }

    @Test func `a candidate of a bundled m-line speaks for all of them`() throws {
        #expect(
            try read(49_170, ["c=IN IP4 0.0.0.0"], video: ["c=IN IP4 192.0.2.7", Self.candidate]) == [
                .sendReceive, .sendReceive,
            ])
    }

    @Test func `each m-line holds for itself`() throws {
        #expect(try read(49_170, ["c=IN IP4 0.0.0.0"]) == [.sendOnly, .sendReceive])
    }

    @Test func `port 0 is no hold`() throws {
        #expect(try read(0, ["c=IN IP4 0.0.0.0", "a=sendrecv"])[0] == .sendReceive)
    }

    /// The hold of an offer and of an answer, as the other peer is told.
    @Test func `the other peer is told the direction, and an address it can use`() throws {
        var call = TestCall()
        var held = PeerText()
        held.lines[0].port = 49_170
        let toCallee = try call.offer(held.text)
        #expect(toCallee.media[0].attributes.contains("sendonly"))
        #expect(toCallee.media[0].connections == [Connection(addressType: "IP4", address: "192.0.2.7")])
        var answer = held.answering
        answer.lines[0].direction = "recvonly"
        let toCaller = try call.answer(answer.text)
        #expect(toCaller.media[0].attributes.contains("inactive"), "who answers so holds as well")
        #expect(call.callee.negotiated?.media[0].direction == .inactive)
    }
}
