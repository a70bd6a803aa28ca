import Primitives
import SDP
import Testing

/// What is wrong with an answer, named (RFC 3264 §6).
struct AnswerCheckTests {
    static let faults: [(String, SDPError, @Sendable (inout PeerText) -> Void)] = [
        (
            "one m-line too many", .answerMismatch(media: nil, .surplusMedia(count: 3, offered: 2)),
            { $0.lines.append(PeerText.Line(mid: "2")) }
        ),
        ("another kind", .answerMismatch(media: 0, .otherKind(.video, offered: .audio)), { $0.lines.swapAt(0, 1) }),
        (
            "another mid", .answerMismatch(media: 1, .otherMid),
            {
                $0.lines[1].mid = "x"
                $0.bundle = "0 x"
            }
        ),
        (
            "another protocol", .answerMismatch(media: 0, .otherProtocol),
            { $0.lines[0].transportProtocol = "RTP/SAVPF" }
        ),
        (
            "setup:actpass", .answerMismatch(media: 0, .unusable(.unusableSetup)),
            { for index in 0...1 { $0.lines[index].setup = "actpass" } }
        ),
        (
            "no setup", .answerMismatch(media: 0, .unusable(.unusableSetup)),
            { for index in 0...1 { $0.lines[index].setup = nil } }
        ),
        (
            "no rtcp-mux", .answerMismatch(media: 0, .unusable(.noRTCPMultiplexing)),
            { for index in 0...1 { $0.lines[index].attributes.removeFirst() } }
        ),
        (
            "no common codec", .answerMismatch(media: 0, .unusable(.noOfferedCodecs)),
            { for index in 0...1 { $0.lines[index].formats = "8" } }
        ),
        (
            "another meaning",
            .answerMismatch(media: 0, .otherEncoding(PayloadType(111)!, "G7221/48000/2", offered: "opus/48000/2")),
            { $0.lines[0].attributes[1] = "rtpmap:111 G7221/48000/2" }
        ),
        (
            "another clock",
            .answerMismatch(media: 0, .otherEncoding(PayloadType(111)!, "opus/16000/2", offered: "opus/48000/2")),
            { $0.lines[0].attributes[1] = "rtpmap:111 opus/16000" }
        ),
        (
            "nothing accepted", .noUsableMedia([.disabledByPeer, .disabledByPeer]),
            {
                $0.lines[0].port = 0
                $0.lines[1].port = 0
            }
        ),
    ]

    @Test(arguments: faults.indices)
    func `an answer that does not fit is refused and the offer stays pending`(_ index: Int) throws {
        let (name, error, change) = Self.faults[index]
        var call = TestCall()
        _ = try call.offer(PeerText.audioAndVideo.text)
        let before = call.callee
        var answer = PeerText.audioAndVideo.answering
        change(&answer)
        #expect(throws: error, "\(name)") { try call.answer(answer.text) }
        #expect(call.callee == before)
        _ = try call.answer(PeerText.audioAndVideo.answering.text)
    }

    /// A call without a picture is better than none: the client that answers so believes that it is connected.
    static let degrading: [(String, MediaRefusal, @Sendable (inout PeerText) -> Void)] = [
        ("an m-line is dropped", .disabledByPeer, { $0.lines.removeLast() }),
        (
            "an m-line and its place in the group are dropped", .disabledByPeer,
            {
                $0.lines.removeLast()
                $0.bundle = "0"
            }
        ),
        (
            "no group and no rtcp-mux", .noRTCPMultiplexing,
            {
                $0.bundle = nil
                $0.lines[1].attributes.removeFirst()
            }
        ),
        ("no common codec", .noOfferedCodecs, { $0.lines[1].formats = "8" }),
    ]

    @Test(arguments: degrading.indices)
    func `an answer with one m-line that cannot be carried goes on with the others`(_ index: Int) throws {
        let (name, refusal, change) = Self.degrading[index]
        var call = TestCall()
        _ = try call.offer(PeerText.audioAndVideo.text)
        var answer = PeerText.audioAndVideo.answering
        change(&answer)
        var callee = call.callee
        #expect(
            try callee.receiveAnswer(callee.read(answer.text, as: .answer)).media.map(\.refusal) == [nil, refusal],
            "\(name)")
        let toCaller = try call.answer(answer.text)
        #expect(toCaller.media.map(\.port) == [7_001, 0], "\(name)")
        #expect(toCaller.attributes.value(of: "group") == "BUNDLE 0")
        for leg in [call.caller, call.callee] {
            #expect(leg.negotiated?.media.map(\.isRejected) == [false, true], "\(name)")
            #expect(leg.negotiated?.media.map(\.direction) == [.sendReceive, .inactive])
        }
    }

    @Test
    func `the first m-line may be the one that is dropped`() throws {
        var call = TestCall()
        _ = try call.offer(PeerText.audioAndVideo.text)
        #expect(try call.answer(PeerText(lines: [.video], bundle: "1").answering.text).media.map(\.port) == [0, 7_001])
        #expect(call.callee.negotiated?.media.map(\.isRejected) == [true, false])
    }

    /// FCS turns the port of a rejected m-line into another, and its browser answers it.
    @Test
    func `what is accepted of an m-line that was offered with port 0 does not count`() throws {
        var call = TestCall()
        _ = try call.offer(PeerText.audioAndVideo.text)
        _ = try call.answer(PeerText.audioAndVideo.answering.text)
        var offer = PeerText.audioAndVideo
        (offer.lines[1].port, offer.bundle) = (0, "0")
        #expect(try call.offer(offer.text).media.map(\.port) == [7_002, 0])
        #expect(try call.answer(PeerText.audioAndVideo.answering.text).media.map(\.port) == [7_001, 0])
        #expect(call.callee.negotiated?.media.map(\.isRejected) == [false, true])
    }

    @Test
    func `an answer may leave codecs out, change their order and add what was not offered`() throws {
        var call = TestCall()
        var offer = PeerText()
        offer.lines[0].formats = "111 9 0 8"
        _ = try call.offer(offer.text)
        var answer = PeerText().answering
        answer.lines[0].formats = "0 18 111"
        let toCaller = try call.answer(answer.text)
        #expect(toCaller.media[0].formats == ["0", "111"])
        #expect(call.callee.negotiated?.media[0].codecs.map(\.name) == ["PCMU", "opus"])
        #expect(call.caller.negotiated?.media[0].codecs.map(\.name) == ["PCMU", "opus"])
    }

    @Test
    func `retransmissions go with their codec`() throws {
        var call = TestCall()
        var offer = PeerText.audioAndVideo
        offer.lines[1].formats = "96 97 98 99"
        offer.lines[1].attributes += ["rtpmap:98 H264/90000", "rtpmap:99 rtx/90000", "fmtp:99 apt=98"]
        #expect(try call.offer(offer.text).media[1].attributes.contains("ssrc-group"))
        var answer = PeerText.audioAndVideo.answering
        answer.lines[1].formats = "98 97"
        answer.lines[1].attributes = ["rtcp-mux", "rtpmap:98 H264/90000", "rtpmap:97 rtx/90000", "fmtp:97 apt=96"]
        let toCaller = try call.answer(answer.text)
        #expect(toCaller.media[1].formats == ["98"])
        #expect(!toCaller.media[1].attributes.contains("ssrc-group"))
        #expect(call.callee.negotiated?.media[1].localRetransmissionSSRC == nil)
        #expect(call.caller.negotiated?.media[1].localRetransmissionSSRC == nil)
    }

    @Test
    func `parameters travel from the answer, feedback must be named by both`() throws {
        var call = TestCall()
        var offer = PeerText()
        offer.lines[0].attributes += ["fmtp:111 stereo=1", "rtcp-fb:111 nack", "rtcp-fb:111 transport-cc"]
        #expect(try call.offer(offer.text).media[0].attributes.values(of: "rtcp-fb") == ["111 nack"])
        var answer = PeerText().answering
        answer.lines[0].attributes += [
            "fmtp:111 useinbandfec=1", "rtcp-fb:111 goog-remb", "rtcp-fb:111 nack", "rtcp-fb:111 transport-cc",
        ]
        let media = try call.answer(answer.text).media[0]
        #expect(media.attributes.values(of: "fmtp") == ["111 useinbandfec=1"])
        #expect(media.attributes.values(of: "rtcp-fb") == ["111 nack"])
    }

    @Test
    func `header extensions keep their ids and are what both directions allow`() throws {
        var call = TestCall()
        let level = "urn:ietf:params:rtp-hdrext:ssrc-audio-level"
        var offer = PeerText()
        offer.lines[0].attributes += [
            "extmap:1/recvonly \(level)", "extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid",
            "extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01",
            "extmap:300 urn:3gpp:video-orientation",
        ]
        let offered = try call.offer(offer.text).media[0].attributes.values(of: "extmap")
        #expect(offered == ["1/recvonly \(level)", "4 urn:ietf:params:rtp-hdrext:sdes:mid"])
        var answer = PeerText().answering
        // Some agents leave the direction out of their answers.
        answer.lines[0].attributes += ["extmap:1 \(level)", "extmap:5 urn:ietf:params:rtp-hdrext:sdes:mid"]
        #expect(try call.answer(answer.text).media[0].attributes.values(of: "extmap") == ["1/sendonly \(level)"])
        #expect(
            call.caller.negotiated?.media[0].extensions == [HeaderExtension(id: 1, uri: level, direction: .sendOnly)])
        #expect(
            call.callee.negotiated?.media[0].extensions == [HeaderExtension(id: 1, uri: level, direction: .receiveOnly)]
        )
    }
}
