import Primitives
import SDP
import TestSupport
import Testing

struct PeerDescriptionTests {
    private func read(_ path: String, as role: PeerDescription.Role = .offer) throws -> PeerDescription {
        try PeerDescription(reading: SessionDescription(parsing: Fixtures.text("sdp/" + path)), as: role)
    }

    @Test
    func `Chromium's offer is read`() throws {
        let offer = try read("chromium-156/offer-audio-video.sdp")
        #expect(!offer.isLite)
        #expect(offer.bundle == [0, 1])
        #expect(offer.media.map(\.mid) == ["0", "1"])
        #expect(offer.media.map(\.kind) == [.audio, .video])
        #expect(offer.media.map(\.refusal) == [nil, nil])
        #expect(
            offer.media[0].codecs.map(\.name) == [
                "opus", "red", "G722", "PCMU", "PCMA", "CN", "telephone-event", "telephone-event",
            ])
        #expect(
            offer.media[0].codecs[0]
                == Codec(
                    payloadType: PayloadType(111)!, name: "opus", clockRate: 48_000, channels: 2,
                    parameters: "minptime=10;useinbandfec=1",
                    feedback: ["transport-cc"]))
        #expect(offer.media[0].sources == [AnnouncedSource(ssrc: SSRC(898_908_617))])
        #expect(offer.media[0].canonicalName == "QPSyeKM0DKmGqm47")
        #expect(
            offer.media[1].sources == [AnnouncedSource(ssrc: SSRC(4_216_082_085), retransmission: SSRC(1_528_444_520))])
        #expect(offer.media[1].codecs.count == 23)
        #expect(offer.media[1].extensions.count == 11)
        let transport = try #require(offer.transportMedia?.transport)
        #expect(transport.credentials == ICECredentials(ufrag: "cp3N", password: "PqEjaUEVXSy7uXzVSxRVYoSR"))
        #expect(transport.fingerprints.map(\.algorithm) == [.sha256])
        #expect(transport.setup == .actpass)
        #expect(
            transport.candidates == [
                "1763792567 1 udp 2122260223 127.0.0.1 47863 typ host generation 0 network-id 1 network-cost 50"
            ])
        #expect(transport.tricklesCandidates && transport.multiplexesRTCP && !transport.hasAllCandidates)
    }

    @Test
    func `Firefox's offer is read`() throws {
        let offer = try read("firefox-153/offer-audio-video-data.sdp")
        #expect(offer.bundle == [0, 1, 2])
        #expect(
            offer.media.map(\.refusal) == [nil, nil, .unsupportedKind("application")],
            "a bundle-only m-line is not rejected")
        #expect(offer.media.map(\.isBundleOnly) == [false, true, true])
        #expect(offer.media[0].codecs.map(\.channels) == [2, 1, 1, 1, 1])
        #expect(
            offer.media[0].extensions[1]
                == HeaderExtension(
                    id: 2, uri: "urn:ietf:params:rtp-hdrext:csrc-audio-level", direction: .receiveOnly))
        #expect(offer.media[1].transport.fingerprints.count == 1, "the fingerprint stands at session level")
        #expect(offer.media[1].transport.multiplexesRTCP)
        #expect(offer.transportMedia?.transport.hasAllCandidates == true)
        #expect(offer.transportMedia?.transport.candidates.count == 4)
    }

    @Test
    func `beside a stronger fingerprint one of SHA-1 is passed over`() throws {
        var text = PeerText()
        text.session.append("fingerprint:sha-1 " + PeerText.digest.prefix(59))
        let offer = try PeerDescription(reading: SessionDescription(parsing: text.text), as: .offer)
        #expect(offer.media[0].transport.fingerprints.map(\.algorithm) == [.sha256])
        #expect(offer.media[0].refusal == nil)
    }

    @Test
    func `aiortc's three fingerprints are read`() throws {
        let offer = try read("aiortc-1.16/offer-audio-video.sdp")
        #expect(offer.usableMedia.count == 2)
        #expect(offer.media[0].transport.fingerprints.map(\.algorithm) == [.sha256, .sha384, .sha512])
        #expect(offer.media[0].transport.fingerprints.map(\.digest.count) == [32, 48, 64])
    }

    @Test(arguments: GrammarTests.fixtures.filter { $0.contains("/answer-") })
    func `answers of real peers are read`(_ path: String) throws {
        let answer = try PeerDescription(reading: SessionDescription(parsing: Fixtures.text(path)), as: .answer)
        // Of those, Pion alone wants the other side to start the handshake.
        #expect(answer.transportMedia?.transport.setup == (path.contains("pion") ? .passive : .active))
    }

    @Test
    func `a data channel alone is refused`() throws {
        var offer = PeerText()
        offer.lines = [
            PeerText.Line(
                kind: "application", transportProtocol: "UDP/DTLS/SCTP", formats: "webrtc-datachannel",
                attributes: ["sctp-port:5000"])
        ]
        let read = try offer.read()
        var leg = LegNegotiation(identity: testIdentity())
        #expect(throws: SDPError.noUsableMedia([.unsupportedKind("application")])) { try leg.receiveOffer(read) }
        #expect(leg.phase == .idle)
    }

    @Test
    func `a description without m-lines is refused`() throws {
        var offer = PeerText()
        offer.lines = []
        let read = try offer.read()
        var leg = LegNegotiation(identity: testIdentity())
        #expect(throws: SDPError.noUsableMedia([])) { try leg.receiveOffer(read) }
    }

    static let refusals: [(String, MediaRefusal, @Sendable (inout PeerText) -> Void)] = [
        ("port 0", .disabledByPeer, { $0.lines[0].port = 0 }),
        (
            "bundle-only outside of a group", .disabledByPeer,
            {
                ($0.bundle, $0.lines[0].port) = (nil, 0)
                $0.lines[0].attributes.append("bundle-only")
            }
        ),
        ("plain RTP", .unsupportedProtocol("RTP/AVP"), { $0.lines[0].transportProtocol = "RTP/AVP" }),
        (
            "SDES keys", .keysInDescription,
            {
                $0.session.removeLast()
                $0.lines[0].attributes.append(
                    "crypto:1 AES_CM_128_HMAC_SHA1_80 inline:FmJG3viNo+YcpGzfAEAPxtXP3vsFYPyBpy4UMuF5")
            }
        ),
        ("no fingerprint", .noFingerprint, { $0.session.removeLast() }),
        ("unknown hash functions only", .noFingerprint, { $0.session[2] = "fingerprint:md5 AB:CD" }),
        ("SHA-1 only", .noFingerprint, { $0.session[2] = "fingerprint:sha-1 " + PeerText.digest.prefix(59) }),
        ("no password", .noICECredentials, { $0.session.remove(at: 1) }),
        ("no rtcp-mux", .noRTCPMultiplexing, { $0.lines[0].attributes.removeFirst() }),
        ("setup:holdconn", .unusableSetup, { $0.lines[0].setup = "holdconn" }),
        (
            "telephone events only", .noCodecs,
            {
                $0.lines[0].formats = "126"
                $0.lines[0].attributes = ["rtcp-mux", "rtpmap:126 telephone-event/8000"]
            }
        ),
        ("a dynamic payload type without rtpmap", .noCodecs, { $0.lines[0].formats = "112" }),
        (
            "a payload type that RTCP needs", .noCodecs,
            {
                $0.lines[0].formats = "72"
                $0.lines[0].attributes = ["rtcp-mux", "rtpmap:72 opus/48000/2"]
            }
        ),
    ]

    @Test(arguments: refusals.indices)
    func `an m-line the gateway cannot carry says why`(_ index: Int) throws {
        let (name, refusal, change) = Self.refusals[index]
        var offer = PeerText()
        change(&offer)
        #expect(try offer.read().media.map(\.refusal) == [refusal], "\(name)")
    }

    static let malformed: [(String, String)] = [
        ("ice-ufrag:abc", "ice-ufrag"), ("ice-pwd:tooShort", "ice-pwd"), ("ice-ufrag", "ice-ufrag"),
        ("fingerprint:sha-256 AB:CD", "fingerprint"),
        ("fingerprint:sha-256 " + PeerText.digest + ":", "fingerprint"),
        ("fingerprint:sha-256", "fingerprint"), ("setup:both", "setup"), ("rtpmap:111 opus", "rtpmap"),
        ("ssrc:x cname:y", "ssrc"),
        ("ssrc-group:FID 1 x", "ssrc-group"), ("mid:", "mid"), ("mid:a b", "mid"), ("extmap:1", "extmap"),
        ("extmap:1/both urn:x", "extmap"),
    ]

    @Test(arguments: malformed)
    func `an attribute that cannot be read is named`(_ attribute: String, _ name: String) {
        var offer = PeerText()
        offer.lines[0].attributes.append(attribute)
        #expect(throws: SDPError.malformedMedia(0, .unreadable(attribute: name))) { try offer.read() }
    }

    @Test
    func `a mid that stands twice is an error`() {
        var offer = PeerText.audioAndVideo
        offer.lines[1].mid = "0"
        #expect(throws: SDPError.malformedMedia(1, .repeatedMid)) { try offer.read() }
    }

    @Test
    func `m-lines without a mid get one that is free`() throws {
        var offer = PeerText.audioAndVideo
        (offer.bundle, offer.lines[0].mid, offer.lines[1].mid) = (nil, "1", nil)
        let media = try offer.read().media
        #expect(media.map(\.mid) == ["1", "m1"])
        #expect(media.map(\.namesMid) == [true, false])
    }

    static let bundles: [(String?, [Int], [[Int]])] = [
        ("0 1", [0, 1], [[0, 1], [0, 1]]), ("1 0", [1, 0], [[1, 0], [1, 0]]), (nil, [], [[0], [1]]),
        ("0", [0], [[0], [1]]),
        ("1", [], [[0], [1]]), ("0 1 2", [], [[0], [1]]), ("", [], [[0], [1]]),
    ]

    @Test(arguments: bundles)
    func `what is outside of the group has a transport of its own`(
        _ bundle: String?, _ group: [Int], _ sharers: [[Int]]
    ) throws {
        var offer = PeerText.audioAndVideo
        offer.bundle = bundle
        let read = try offer.read()
        #expect(read.bundle == group)
        #expect(read.media.allSatisfy { $0.refusal == nil })
        #expect(read.media.indices.map(read.sharers) == sharers)
    }

    @Test
    func `bundled m-lines take what they lack from the tagged one`() throws {
        var offer = PeerText.audioAndVideo
        offer.lines[0].attributes += offer.session
        offer.session = []
        offer.lines[1].setup = nil
        offer.lines[1].attributes.removeFirst()
        let media = try offer.read().media
        #expect(media[1].refusal == nil)
        #expect(media[1].transport.credentials == media[0].transport.credentials)
        #expect(media[1].transport.setup == .actpass)
    }

    @Test(arguments: ["nack", "nack ", "nack  "])
    func `spaces behind feedback are no part of it, as Pion writes them`(_ value: String) throws {
        var offer = PeerText()
        offer.lines[0].attributes += ["rtcp-fb:111 \(value)", "rtcp-fb:* transport-cc "]
        #expect(try offer.read().media[0].codecs.map(\.feedback) == [["nack", "transport-cc"], ["transport-cc"]])
    }

    @Test
    func `wildcard feedback counts for every codec, but not without bounds`() throws {
        var offer = PeerText()
        offer.lines[0].attributes += ["rtcp-fb:* nack", "rtcp-fb:111 nack"] + (0..<100).map { "rtcp-fb:* x\($0)" }
        let codecs = try offer.read().media[0].codecs
        #expect(codecs.map { Array($0.feedback.prefix(3)) } == [["nack", "x0", "x1"], ["nack", "x0", "x1"]])
        #expect(codecs.allSatisfy { $0.feedback.count == 32 })
    }
}
