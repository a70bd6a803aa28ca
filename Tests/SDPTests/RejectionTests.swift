import SDP
import TestSupport
import Testing

/// M-lines that cannot be carried stay in their place with port 0 (RFC 3264 §6) and outside of the group (RFC 9143
/// §7.3.3).
struct RejectionTests {
    @Test
    func `a data channel is rejected and not offered on, audio and video are`() throws {
        var call = TestCall()
        let offered = try call.offer(Fixtures.text("sdp/chromium-156/offer-audio-video-data.sdp"))
        #expect(offered.attributes.value(of: "group") == "BUNDLE 0 1")
        #expect(offered.media.map(\.type) == ["audio", "video"])
        let answered = try call.answer(Fixtures.text("sdp/chromium-156/answer-to-chromium-offer.sdp"))
        #expect(answered.attributes.value(of: "group") == "BUNDLE 0 1")
        let rejected = [
            "m=application 0 UDP/DTLS/SCTP webrtc-datachannel", "c=IN IP4 0.0.0.0", "a=mid:2", "a=inactive",
            "a=setup:passive",
        ]
        #expect(answered.lines(of: 2) == rejected)
        #expect(call.caller.negotiated?.media[2].isRejected == true)
        #expect(call.caller.negotiated?.media[2].kind == .other("application"))
    }

    /// Some clients take any m-line of a first offer for media that they are offered.
    @Test
    func `an m-line that the gateway refuses leaves a gap that only its own peer sees`() throws {
        var call = TestCall()
        let second = PeerText.Line(
            kind: "video", formats: "96 97", mid: "2", attributes: PeerText.Line.video.attributes)
        var offer = PeerText(lines: [.audio, .video, second], bundle: "0 2")
        offer.lines[1].attributes.removeFirst()
        let offered = try call.offer(offer.text)
        #expect(offered.media.map { $0.attributes.value(of: "mid") } == ["0", "2"])
        #expect(offered.attributes.value(of: "group") == "BUNDLE 0 2")
        let answer = PeerText(lines: [.audio, second], bundle: "0 2").answering
        #expect(try call.answer(answer.text).media.map(\.port) == [7_001, 0, 7_001])
        #expect(call.caller.negotiated?.media.map(\.isRejected) == [false, true, false])

        // A new m-line that cannot be carried is left out of later offers as well; those that are known keep their
        // places.
        var again = offer
        again.lines.append(PeerText.Line(kind: "application", formats: "0", mid: "3", attributes: []))
        let said = try again.read().aligned(to: #require(call.callee.negotiated).media)
        let toCallee = try call.callee.makeOffer(mirroring: said, policy: .relay, random: &call.random)
        #expect(toCallee.media.map { $0.attributes.value(of: "mid") } == ["0", "2"])
        #expect(toCallee.media.map(\.port) == [7_002, 7_002])
    }

    @Test
    func `what the callee rejects is rejected towards the caller`() throws {
        var call = TestCall()
        _ = try call.offer(PeerText.audioAndVideo.text)
        var answer = PeerText.audioAndVideo.answering
        (answer.lines[0].port, answer.bundle) = (0, "1")
        let answered = try call.answer(answer.text)
        #expect(answered.attributes.value(of: "group") == "BUNDLE 1")
        #expect(answered.media.map(\.port) == [0, 7_001])
        #expect(
            answered.media[1].attributes.contains("candidate"),
            "the transport stands with the first m-line that is left")
        #expect(call.callee.negotiated?.media.map(\.isRejected) == [true, false])
        #expect(call.callee.negotiated?.media.map(\.direction) == [.inactive, .sendReceive])
    }

    @Test
    func `a rejected m-line still shows its codecs and rtcp-mux, without what builds on them`() throws {
        var call = TestCall()
        _ = try call.offer(PeerText.audioAndVideo.text)
        var answer = PeerText.audioAndVideo.answering
        (answer.lines[1].port, answer.bundle) = (0, "0")
        #expect(
            try call.answer(answer.text).lines(of: 1) == [
                "m=video 0 UDP/TLS/RTP/SAVPF 96", "c=IN IP4 0.0.0.0", "a=mid:1", "a=inactive", "a=setup:passive",
                "a=rtcp-mux",
                "a=rtpmap:96 VP8/90000",
            ])
    }

    @Test
    func `a video m-line without rtcp-mux is rejected while audio goes on`() throws {
        var call = TestCall()
        var offer = PeerText.audioAndVideo
        offer.bundle = nil
        offer.lines[1].attributes.removeFirst()
        #expect(try call.offer(offer.text).media.map(\.port) == [7_002])
    }

    @Test
    func `mids are not written to a peer that wrote none`() throws {
        var call = TestCall()
        var offer = PeerText()
        (offer.bundle, offer.lines[0].mid) = (nil, nil)
        #expect(try call.offer(offer.text).media[0].attributes.value(of: "mid") == "0")
        #expect(try call.answer(PeerText().answering.text).media[0].attributes.value(of: "mid") == nil)
        #expect(call.caller.negotiated?.media[0].mid == "0")
    }

    @Test
    func `an answer repeats the offer's protocol, and the gateway offers the current one`() throws {
        var call = TestCall()
        var offer = PeerText()
        offer.lines[0].transportProtocol = "RTP/SAVPF"
        #expect(try call.offer(offer.text).media[0].transportProtocol == "UDP/TLS/RTP/SAVPF")
        #expect(try call.answer(PeerText().answering.text).media[0].transportProtocol == "RTP/SAVPF")
    }
}
