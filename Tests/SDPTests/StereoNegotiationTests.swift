import Primitives
import SDP
import TestSupport
import Testing

/// `stereo` and `sprop-stereo` of Opus (RFC 7587 §6.1, §7.1): who says what to whom, and whose word counts for whom.
struct StereoNegotiationTests {
    private static func opus(_ parameters: String?) -> PeerText {
        var text = PeerText()
        text.lines[0].formats = "111"
        if let parameters { text.lines[0].attributes.append("fmtp:111 \(parameters)") }
        return text
    }

    private static let muLaw = {
        var text = PeerText()
        text.lines[0].formats = "0"
        text.lines[0].attributes = ["rtcp-mux", "rtpmap:0 PCMU/8000"]
        return text
    }()

    private static func codec(_ parameters: String?, _ name: String = "opus") -> Codec {
        Codec(payloadType: PayloadType(111)!, name: name, clockRate: 48_000, channels: 2, parameters: parameters)
    }

    @Test(
        arguments: [
            ("stereo=1", "sprop-stereo=1"), ("sprop-stereo=1", "stereo=1"),
            ("stereo=1;sprop-stereo=1", "stereo=1;sprop-stereo=1"),
            ("minptime=10;useinbandfec=1", "minptime=10;useinbandfec=1"), (nil, nil),
            ("stereo=0;sprop-stereo=1", "stereo=1;sprop-stereo=0"),
            ("maxplaybackrate=48000;stereo=1;useinbandfec=1", "maxplaybackrate=48000;useinbandfec=1;sprop-stereo=1"),
            ("useinbandfec=1; SPROP-STEREO=1", "useinbandfec=1;stereo=1"),
        ] as [(String?, String?)])
    func `who mixes takes what the peer sends and sends what it takes`(_ said: String?, _ reversed: String?) {
        #expect(Self.codec(said).withStereoReversed == Self.codec(reversed))
        #expect(Self.codec(said, "other").withStereoReversed == Self.codec(said, "other"))
    }

    @Test func `each leg's sender goes by what the peer of that leg said, each peer is told what the other one said`()
        throws
    {
        var call = TestCall()
        let offer = try call.offer(Self.opus("stereo=1;maxplaybackrate=16000").text)
        #expect(offer.media[0].attributes.value(of: "fmtp") == "111 stereo=1;maxplaybackrate=16000")
        let answer = try call.answer(Self.opus("sprop-stereo=1;usedtx=1").answering.text)
        #expect(answer.media[0].attributes.value(of: "fmtp") == "111 sprop-stereo=1;usedtx=1")
        #expect(call.callee.negotiated?.media[0].codecs.map(\.parameters) == ["sprop-stereo=1;usedtx=1"])
        #expect(
            call.caller.negotiated?.media[0].describedCodecs?.map(\.parameters) == ["stereo=1;maxplaybackrate=16000"])
    }

    @Test func `what the application wants for a caller reaches the gateway's own coder`() throws {
        var call = TestCall(caller: MediaPreferences(opus: OpusParameters(maximumPlaybackRate: 16_000)))
        _ = try call.offer(Self.opus("stereo=1").text)
        _ = try call.answer(Self.opus("useinbandfec=1").answering.text)
        #expect(
            call.caller.negotiated?.media[0].describedCodecs?.map(\.parameters) == ["stereo=1;maxplaybackrate=16000"])
    }

    @Test func `a peer whose other side has one channel is asked for one and promised one`() throws {
        var call = TestCall()
        call.policy = .engine
        _ = try call.offer(Self.opus("minptime=10;stereo=1;sprop-stereo=1").text)
        let answer = try call.answer(Self.muLaw.answering.text)
        #expect(answer.media[0].attributes.values(of: "fmtp") == ["111 minptime=10"])
    }

    @Test func `a peer of another codec is offered Opus of one channel`() throws {
        var call = TestCall()
        call.policy = .engine
        let offer = try call.offer(Self.muLaw.text)
        let parameters = try PeerDescription(reading: offer, as: .offer).media[0].codecs.first { $0.isNamed("opus") }?
            .parameters
        #expect(parameters == "useinbandfec=1")
    }
}
