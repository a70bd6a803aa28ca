import Primitives
import SDP
import TestSupport
import Testing

/// Peers without a common audio codec.
struct TranscodingTests {
    private static func peer(_ formats: String, _ attributes: [String]) -> PeerText {
        var text = PeerText()
        text.lines[0].formats = formats
        text.lines[0].attributes = ["rtcp-mux"] + attributes
        return text
    }

    private static let opus = peer("111 110", ["rtpmap:111 opus/48000/2", "rtpmap:110 telephone-event/48000"])
    private static let muLaw = peer("0 101", ["rtpmap:0 PCMU/8000", "rtpmap:101 telephone-event/8000"])

    private static func names(_ description: SessionDescription, as role: PeerDescription.Role) throws -> [String] {
        try PeerDescription(reading: description, as: role).media[0].codecs.map {
            "\($0.payloadType.rawValue) \($0.name)/\($0.clockRate)"
        }
    }

    private static func call() -> TestCall {
        var call = TestCall()
        call.policy = .engine
        return call
    }

    @Test func `the other side is offered what the gateway can turn the audio into, behind what was offered`() throws {
        var call = Self.call()
        let offer = try call.offer(Self.opus.text)
        #expect(
            try Self.names(offer, as: .offer) == [
                "111 opus/48000", "110 telephone-event/48000", "9 G722/8000", "0 PCMU/8000", "8 PCMA/8000",
                "126 telephone-event/8000",
            ])
    }

    @Test func `a number that is taken is not given twice, in whichever m-line`() throws {
        var text = PeerText.audioAndVideo
        text.lines[0].formats = "0 126"
        text.lines[0].attributes = ["rtcp-mux", "rtpmap:0 PCMU/8000", "rtpmap:126 CN/8000"]
        text.lines[1].formats = "111"
        text.lines[1].attributes = ["rtcp-mux", "rtpmap:111 VP8/90000"]
        var call = Self.call()
        let offer = try PeerDescription(reading: call.offer(text.text), as: .offer)
        let all = offer.media.flatMap(\.codecs).map(\.payloadType)
        #expect(Set(all).count == all.count)
        #expect(offer.media[0].codecs.contains { $0.name == "opus" && $0.payloadType.rawValue == 96 })
    }

    @Test func `peers without a common codec get one each`() throws {
        var call = Self.call()
        _ = try call.offer(Self.opus.text)
        let answer = try call.answer(Self.muLaw.answering.text)
        #expect(try Self.names(answer, as: .answer) == ["111 opus/48000", "110 telephone-event/48000"])
        #expect(call.callee.negotiated?.media[0].codecs.map(\.name) == ["PCMU"])
    }

    @Test func `peers with a common codec use it`() throws {
        var call = Self.call()
        _ = try call.offer(Self.peer("111 0", ["rtpmap:111 opus/48000/2", "rtpmap:0 PCMU/8000"]).text)
        let answer = try call.answer(Self.muLaw.answering.text)
        #expect(try Self.names(answer, as: .answer) == ["0 PCMU/8000"])
    }

    /// The relay puts them into the rate of each side (RFC 4733 §2.1).
    @Test(arguments: [("110 126", ["110 telephone-event/48000"]), ("126", ["126 telephone-event/8000"]), ("", [])])
    func `telephone events are accepted at whichever rate the other side has them, rather at that of the audio`(
        _ offered: String, _ accepted: [String]
    ) throws {
        let maps = ["rtpmap:111 opus/48000/2", "rtpmap:110 telephone-event/48000", "rtpmap:126 telephone-event/8000"]
        let offer = Self.peer(offered.isEmpty ? "111" : "111 \(offered)", maps)
        for (events, isAccepted) in [("telephone-event/16000", true), ("CN/16000", false)] {
            var call = Self.call()
            _ = try call.offer(offer.text)
            let answer = try call.answer(
                Self.peer("111 97", ["rtpmap:111 opus/48000/2", "rtpmap:97 \(events)"]).answering.text)
            #expect(try Self.names(answer, as: .answer) == ["111 opus/48000"] + (isAccepted ? accepted : []))
        }
    }

    /// Who offers is ready for all of it (RFC 3264 §5.1), as far as it can be decoded.
    @Test func `what an answer leaves out may come all the same`() throws {
        let offer = Self.peer(
            "111 97 8", ["rtpmap:111 opus/48000/2", "fmtp:111 sprop-stereo=1;useinbandfec=1", "rtpmap:97 speex/16000"])
        var call = Self.call()
        _ = try call.offer(offer.text)
        _ = try call.answer(Self.muLaw.answering.text)
        let agreed = try #require(call.callee.negotiated?.media[0])
        #expect(agreed.codecs.map(\.name) == ["PCMU"])
        #expect(agreed.furtherCodecs.map(\.name) == ["opus", "PCMA", "G722"])
        #expect(agreed.furtherCodecs.first?.parameters == "useinbandfec=1")
        #expect(call.caller.negotiated?.media[0].furtherCodecs == [])
        // Under the numbers of the leg.
        let wish = try #require(PayloadNumber("opus/48000/2", number: 114))
        var renumbered = TestCall(caller: MediaPreferences(payloadNumbers: [wish]))
        renumbered.policy = .engine
        _ = try renumbered.offer(offer.text)
        _ = try renumbered.answer(Self.muLaw.answering.text)
        #expect(renumbered.callee.agreement?.media[0].furtherCodecs.first?.payloadType.rawValue == 114)
        // Without transcoding nothing can be made of it.
        var relay = TestCall()
        _ = try relay.offer(Self.peer("111 0", ["rtpmap:111 opus/48000/2"]).text)
        _ = try relay.answer(Self.muLaw.answering.text)
        #expect(relay.callee.negotiated?.media[0].furtherCodecs == [])
    }

    @Test func `what the gateway cannot code is only relayed`() throws {
        var call = Self.call()
        let offer = try call.offer(Self.peer("97", ["rtpmap:97 speex/16000"]).text)
        #expect(try Self.names(offer, as: .offer) == ["97 speex/16000"])
    }

    @Test func `without transcoding nothing is added, and the call is refused`() throws {
        var call = TestCall()
        #expect(try Self.names(call.offer(Self.opus.text), as: .offer).count == 2)
        #expect(throws: SDPError.self) { try call.answer(Self.muLaw.answering.text) }
    }
}
