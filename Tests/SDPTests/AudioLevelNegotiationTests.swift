import Primitives
import SDP
import TestSupport
import Testing

/// Who says how loud its audio is (RFC 6464 §4), on legs whose peers want the same and on others.
struct AudioLevelNegotiationTests {
    private static let uri = HeaderExtension.audioLevel
    private static let mid = "urn:ietf:params:rtp-hdrext:sdes:mid"

    private static func peer(_ mappings: [String], _ base: PeerText = PeerText()) -> PeerText {
        var peer = base
        peer.lines[0].attributes += mappings.map { "extmap:" + $0 }
        return peer
    }

    /// The mapping in the m-line of audio.
    private static func mappings(_ description: SessionDescription, line: Int = 0) -> [String] {
        description.media[line].attributes.values(of: "extmap").filter { $0.hasSuffix(uri) }.map {
            String($0.dropLast(uri.count + 1))
        }
    }

    /// Caller, the gateway's offer, callee, the gateway's answer, and the directions in which the gateway then reads
    /// and writes levels on both legs.
    @Test(
        arguments: [
            // Both know it: end to end.
            (["1 "], ["1"], ["1 "], ["1"], MediaDirection.sendReceive, MediaDirection.sendReceive),
            // Only the caller, only the callee, neither.
            (["1 "], ["1"], [], ["1/recvonly"], .receiveOnly, nil),
            ([], ["14/recvonly"], ["14/sendonly "], [], nil, .receiveOnly),
            ([], ["14/recvonly"], [], [], nil, nil),
            // One of them wants to hear and not to say.
            (["1/recvonly "], ["1/recvonly"], ["1/sendonly "], ["1/sendonly"], .sendOnly, .receiveOnly),
            (["1 "], ["1"], ["1/recvonly "], ["1/recvonly"], .receiveOnly, .sendOnly),
            // The callee says and does not listen: the caller is listened to all the same.
            (["1 "], ["1"], ["1/sendonly "], ["1"], .sendReceive, .receiveOnly),
        ] as [([String], [String], [String], [String], MediaDirection?, MediaDirection?)])
    func `each leg agrees on what its peer can do`(
        _ caller: [String], _ offered: [String], _ callee: [String], _ answered: [String], _ onCaller: MediaDirection?,
        _ onCallee: MediaDirection?
    ) throws {
        var call = TestCall()
        #expect(Self.mappings(try call.offer(Self.peer(caller.map { $0 + Self.uri }).text)) == offered)
        #expect(Self.mappings(try call.answer(Self.peer(callee.map { $0 + Self.uri }).answering.text)) == answered)
        func agreed(_ leg: NegotiatedLeg?) -> MediaDirection? {
            leg?.media[0].extensions.first { $0.uri == Self.uri }?.direction
        }
        #expect(agreed(call.caller.negotiated) == onCaller)
        #expect(agreed(call.callee.negotiated) == onCallee)
    }

    @Test func `the gateway's own mapping takes no id that has a meaning, and keeps it`() throws {
        var call = TestCall()
        let others = ["14 \(Self.mid)", "13 urn:ietf:params:rtp-hdrext:toffset"]
        let offer = Self.peer(others, .audioAndVideo)
        let offered = try call.offer(offer.text)
        #expect(Self.mappings(offered) == ["12/recvonly"])
        #expect(Self.mappings(offered, line: 1) == [], "video has no level")
        let mappings: [String] = offered.media.flatMap { $0.attributes.values(of: "extmap") }
        let counted = mappings.filter { $0.hasSuffix("transport-wide-cc-extensions-01") }
        #expect(counted.allSatisfy { $0.hasPrefix("11 ") } && counted.count == 2, "nor does congestion control take it")
        _ = try call.answer(Self.peer(["12/sendonly \(Self.uri)"], .audioAndVideo).answering.text)
        #expect(Self.mappings(try call.offer(offer.text)) == ["12/recvonly"])
    }

    @Test func `a rejected m-line says nothing, and a policy may forbid it`() throws {
        var call = TestCall()
        var offer = PeerText.audioAndVideo
        offer.lines[0].port = 0
        #expect(Self.mappings(try call.offer(offer.text)) == [])
        var silent = TestCall()
        silent.policy.readsAudioLevels = false
        #expect(Self.mappings(try silent.offer(PeerText().text)) == [])
        var mute = TestCall()
        mute.policy.readsAudioLevels = false
        _ = try mute.offer(Self.peer(["1 \(Self.uri)"]).text)
        #expect(Self.mappings(try mute.answer(PeerText().answering.text)) == [])
    }
}
