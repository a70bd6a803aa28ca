import Primitives
import SDP
import TestSupport
import Testing

/// Calls whose legs have different payload types.
struct PayloadNumberingTests {
    private static func wish(_ definition: String, _ number: Int, _ parameters: [String: String] = [:]) throws
        -> PayloadNumber
    {
        try #require(PayloadNumber(definition, number: number, parameters: parameters))
    }

    private static func type(_ number: Int) throws -> PayloadType { try #require(PayloadType(number)) }

    private static func numbers(_ codecs: [Codec]?) -> [String] {
        (codecs ?? []).map { "\($0.payloadType.rawValue) \($0.name)" }
    }

    @Test(arguments: (0..<8).map { _ in UInt64.random(in: .min ... .max) })
    func `whatever is swapped, the numbers stay one to one`(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededRandomSource(seed: seed)
        var numbering = PayloadNumbering.identity
        for _ in 0..<40 {
            numbering.swapOnLeg(
                try Self.type(.random(in: 0...127, using: &random)), try Self.type(.random(in: 0...127, using: &random))
            )
            let all = try (0...127).map(Self.type)
            #expect(Set(all.map(numbering.onLeg)).count == 128)
            #expect(all.allSatisfy { numbering.inCall(numbering.onLeg($0)) == $0 }, "seed \(seed)")
        }
    }

    @Test(arguments: [
        ("opus", 114), ("opus/48000/x", 114), ("opus/48000/2", 95), ("opus/48000/2", 128), ("", 100),
        ("opus 1/48000", 100),
    ])
    func `what is no encoding or no dynamic number cannot be asked for`(_ definition: String, _ number: Int) {
        #expect(PayloadNumber(definition, number: number) == nil)
    }

    @Test func `the callee sees the wanted numbers, the caller its own`() throws {
        var call = TestCall(
            caller: MediaPreferences(payloadNumbers: [
                try Self.wish("opus/48000/2", 114), try Self.wish("VP8/90000", 97),
            ]))
        let offer = try call.offer(PeerText.audioAndVideo.text)
        #expect(offer.media[0].formats == ["114", "0"])
        #expect(offer.media[1].formats == ["97", "96"])
        #expect(offer.media[1].attributes.value(of: "fmtp") == "96 apt=97")

        var reply = PeerText.audioAndVideo.answering
        reply.lines[0].formats = "114"
        reply.lines[0].attributes = ["rtcp-mux", "rtpmap:114 opus/48000/2"]
        reply.lines[1].attributes = ["rtcp-mux", "rtpmap:97 VP8/90000", "rtpmap:96 rtx/90000", "fmtp:96 apt=97"]
        reply.lines[1].formats = "97 96"
        let answer = try call.answer(reply.text)
        #expect(answer.media[0].formats == ["111"])
        #expect(answer.media[1].formats == ["96", "97"])
        #expect(answer.media[1].attributes.value(of: "fmtp") == "97 apt=96")

        let (caller, callee) = (try #require(call.caller.agreement), try #require(call.callee.agreement))
        #expect(Self.numbers(caller.media[0].codecs) == ["111 opus"] && caller.media[0].numbering.isIdentity)
        #expect(Self.numbers(callee.media[0].codecs) == ["114 opus"])
        #expect(Self.numbers(callee.media[1].codecs) == ["97 VP8", "96 rtx"])
        #expect(callee.media[1].codecs[1].parameters == "apt=97")
        #expect(try callee.media[1].numbering.inCall(Self.type(97)) == Self.type(96))
    }

    @Test func `the numbers stay for the session, and for offers from the other side`() throws {
        var call = TestCall(caller: MediaPreferences(payloadNumbers: [try Self.wish("opus/48000/2", 114)]))
        _ = try call.offer(PeerText().text)
        var renumbered = PeerText()
        renumbered.lines[0].formats = "114 0"
        renumbered.lines[0].attributes = ["rtcp-mux", "rtpmap:114 opus/48000/2"]
        _ = try call.answer(renumbered.answering.text)

        // The caller offers again, with a new codec under the number that the callee knows opus by.
        var more = PeerText()
        more.lines[0].formats = "111 114"
        more.lines[0].attributes = ["rtcp-mux", "rtpmap:111 opus/48000/2", "rtpmap:114 L16/16000"]
        let offer = try call.offer(more.text)
        #expect(offer.media[0].attributes.values(of: "rtpmap") == ["114 opus/48000/2", "111 L16/16000"])
        _ = try call.answer(renumbered.answering.text)

        // The callee offers.
        let reverse = try call.callee.read(renumbered.text, as: .offer)
        try call.callee.receiveOffer(reverse)
        let toCaller = try call.caller.makeOffer(mirroring: reverse, policy: call.policy, random: &call.random)
        #expect(toCaller.media[0].formats == ["111", "0"])
        let reply = try call.caller.read(PeerText().answering.text, as: .answer)
        try call.caller.receiveAnswer(reply)
        let toCallee = try call.callee.makeAnswer(mirroring: reply, policy: call.policy, random: &call.random)
        #expect(toCallee.media[0].formats == ["114", "0"])
        #expect(Self.numbers(call.callee.agreement?.media[0].codecs) == ["114 opus", "0 PCMU"])
    }

    @Test func `redundancy goes when its numbers change, and stays when they do not`() throws {
        let text = try Fixtures.text("sdp/chromium-156/offer-audio.sdp")
        var moved = TestCall(caller: MediaPreferences(payloadNumbers: [try Self.wish("opus/48000/2", 114)]))
        #expect(try !moved.offer(text).media[0].attributes.values(of: "rtpmap").contains { $0.contains("red") })
        var other = TestCall(caller: MediaPreferences(payloadNumbers: [try Self.wish("telephone-event/8000", 100)]))
        #expect(try other.offer(text).media[0].attributes.values(of: "fmtp").contains("63 111/111"))
    }

    @Test func `a static number stays, and a wish for what is not there changes nothing`() throws {
        let wishes = [
            try Self.wish("PCMU/8000", 100), try Self.wish("AV1/90000", 101), try Self.wish("opus/16000", 102),
        ]
        var (call, plain) = (TestCall(caller: MediaPreferences(payloadNumbers: wishes)), TestCall())
        #expect(try call.offer(PeerText().text) == plain.offer(PeerText().text))
        #expect(call.callee.numbering.isIdentity)
    }

    @Test func `an answer that misuses a number is told so in the numbers that its sender knows`() throws {
        var call = TestCall(caller: MediaPreferences(payloadNumbers: [try Self.wish("opus/48000/2", 114)]))
        _ = try call.offer(PeerText().text)
        var wrong = PeerText()
        wrong.lines[0].formats = "114"
        wrong.lines[0].attributes = ["rtcp-mux", "rtpmap:114 L16/16000"]
        let fault = SDPError.AnswerFault.otherEncoding(PayloadType(114)!, "L16/16000", offered: "opus/48000/2")
        #expect(throws: SDPError.answerMismatch(media: 0, fault)) { try call.answer(wrong.answering.text) }
    }

    @Test func `format parameters keep their order and other forms`() {
        var format = FormatParameters("minptime=10; useinbandfec=1;0-15")
        format["UseInbandFEC"] = "0"
        format["usedtx"] = "1"
        format["minptime"] = nil
        #expect(format.text == "useinbandfec=0;0-15;usedtx=1")
        #expect(format["useinbandfec"] == "0" && format["stereo"] == nil)
    }
}
