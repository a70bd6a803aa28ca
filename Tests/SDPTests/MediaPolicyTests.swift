import Primitives
import SDP
import TestSupport
import Testing

struct MediaPolicyTests {
    private func offer(_ path: String) throws -> SessionDescription {
        var call = TestCall()
        return try call.offer(Fixtures.text("sdp/" + path))
    }

    @Test
    func `audio passes whole, video without error correction`() throws {
        let media = try offer("chromium-156/offer-audio-video.sdp").media
        #expect(media[0].formats == ["111", "63", "9", "0", "8", "13", "110", "126"])
        let removed = ["118", "119", "120"]  // red, its rtx, ulpfec
        #expect(
            media[1].formats
                == "96 97 102 103 104 107 108 109 114 115 116 117 39 40 45 46 98 99 100 101".split(separator: " ").map(
                    String.init))
        #expect(
            !media[1].attributes.contains { attribute in
                removed.contains { attribute.value?.hasPrefix($0 + " ") == true }
            })
    }

    @Test(
        arguments: [
            ("chromium-156/offer-audio-video.sdp", "3", [[111], [96]]),
            ("aiortc-1.16/offer-audio-video.sdp", "14", [[96], [97]]),
        ] as [(String, String, [[Int]])])
    func `the gateway offers to count what video legs send, whoever calls`(
        _ path: String, _ mapping: String, _ counted: [[Int]]
    ) throws {
        let media = try offer(path).media
        for (section, formats) in zip(media, counted) {
            let mappings = section.attributes.values(of: "extmap").filter {
                $0.hasSuffix("transport-wide-cc-extensions-01")
            }
            #expect(mappings.map { $0.prefix(while: { $0 != " " }) } == [mapping[...]])
            let feedback = section.attributes.values(of: "rtcp-fb").filter { $0.hasSuffix(" transport-cc") }
            for format in formats { #expect(feedback.contains("\(format) transport-cc")) }
        }
    }

    /// The other leg's peer, aiortc, has never heard of it.
    @Test
    func `the gateway answers that it counts, whatever the other side can do`() throws {
        var call = TestCall()
        _ = try call.offer(Fixtures.text("sdp/chromium-156/offer-audio-video.sdp"))
        let media = try call.answer(Fixtures.text("sdp/aiortc-1.16/answer-to-chromium.sdp")).media
        let mapping = "3 " + HeaderExtension.transportSequenceNumber
        #expect(media.allSatisfy { $0.attributes.values(of: "extmap").contains(mapping) })
        #expect(media[1].attributes.values(of: "rtcp-fb").contains("96 transport-cc"))
        #expect(!media[1].attributes.values(of: "rtcp-fb").contains("97 transport-cc"), "retransmissions have none")
        let counted = HeaderExtension(id: 3, uri: HeaderExtension.transportSequenceNumber)
        #expect(call.caller.negotiated?.media.allSatisfy { $0.extensions.contains(counted) } == true)
        #expect(call.callee.negotiated?.media.contains { $0.extensions.contains(counted) } == false)
    }

    @Test(
        arguments: [("", "3"), ("/sendonly", "3/recvonly"), ("/recvonly", "3/sendonly"), ("/inactive", nil)]
            as [(String, String?)])
    func `a peer that counts one way is counted that way`(_ offered: String, _ answered: String?) throws {
        var call = TestCall()
        var offer = PeerText.audioAndVideo
        let uri = HeaderExtension.transportSequenceNumber
        offer.lines[1].attributes += ["extmap:3\(offered) \(uri)", "rtcp-fb:96 transport-cc"]
        _ = try call.offer(offer.text)
        let media = try call.answer(PeerText.audioAndVideo.answering.text).media[1]
        let mappings = media.attributes.values(of: "extmap").filter { $0.hasSuffix(uri) }
        #expect(mappings.map { $0.prefix { $0 != " " } } == [answered].compactMap { $0?[...] })
        #expect(media.attributes.values(of: "rtcp-fb").contains("96 transport-cc") == (answered != nil))
    }

    @Test(arguments: [([true, false], [true, true]), ([false, true], [true, false])] as [([Bool], [Bool])])
    func `whoever takes REMB is told limits, whatever the other side can do`(_ takes: [Bool], _ told: [Bool]) throws {
        func peer(_ takes: Bool) -> PeerText {
            var text = PeerText.audioAndVideo
            text.lines[1].attributes += takes ? ["rtcp-fb:96 goog-remb"] : []
            return text
        }
        func tells(_ description: SessionDescription) -> Bool {
            description.media[1].attributes.values(of: "rtcp-fb").contains("96 goog-remb")
        }
        var call = TestCall()
        let offer = try call.offer(peer(takes[0]).text)
        let answer = try call.answer(peer(takes[1]).answering.text)
        #expect([tells(offer), tells(answer)] == told)
    }

    @Test
    func `without video nothing is counted`() throws {
        let text = try offer("chromium-156/offer-audio.sdp").serialized
        #expect(!text.contains("transport-cc") && !text.contains("transport-wide-cc"))
    }

    @Test
    func `header extensions that the relay can carry keep their ids`() throws {
        let media = try offer("chromium-156/offer-audio-video.sdp").media
        #expect(media[0].attributes.values(of: "extmap").map { $0.prefix(2) } == ["1 ", "2 ", "4 ", "3 "])
        #expect(
            media[1].attributes.values(of: "extmap").compactMap { $0.split(separator: " ").first } == [
                "14", "2", "13", "5", "6", "7", "8", "4", "3",
            ])
    }

    @Test
    func `simulcast is not offered on`() throws {
        var call = TestCall()
        var offer = PeerText.audioAndVideo
        offer.lines[1].attributes += [
            "rid:h send", "rid:l send", "simulcast:send h;l", "extmap:10 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id",
        ]
        let text = try call.offer(offer.text).serialized
        #expect(!text.contains("a=rid") && !text.contains("a=simulcast") && !text.contains("rtp-stream-id"))
    }

    @Test
    func `another policy filters otherwise and keeps the order`() throws {
        var call = TestCall()
        call.policy.withheldCodecs[.audio] = ["opus", "telephone-event"]
        call.policy.withheldCodecs[.video] = ["VP8", "AV1"]
        let media = try call.offer(Fixtures.text("sdp/firefox-153/offer-audio-video-data.sdp")).media
        #expect(media[0].formats == ["9", "0", "8"])
        #expect(media[1].formats == ["121", "125", "123", "122", "119"], "rtx of VP8 and AV1 go with them")
    }

    @Test
    func `an offer of which nothing passes is refused`() throws {
        var call = TestCall()
        call.policy.withheldCodecs[.audio] = ["opus", "pcmu"]
        #expect(throws: SDPError.noUsableMedia([.noCodecs])) { try call.offer(PeerText().text) }
        #expect(call.callee.phase == .idle)
    }

    @Test
    func `limits on bandwidth and packet time pass from end to end`() throws {
        var call = TestCall()
        var offer = PeerText()
        offer.lines[0].attributes += ["ptime:20", "maxptime:60"]
        let text = offer.text.replacing(
            "c=IN IP4 0.0.0.0\r\n", with: "c=IN IP4 0.0.0.0\r\nb=AS:300\r\nb=TIAS:300000\r\n")
        let offered = try call.offer(text).media[0]
        #expect(offered.bandwidths == [Bandwidth(type: "AS", value: 300), Bandwidth(type: "TIAS", value: 300_000)])
        #expect(offered.attributes.value(of: "ptime") == "20")
        #expect(offered.attributes.value(of: "maxptime") == "60")
        let answered = try call.answer(PeerText().answering.text).media[0]
        #expect(answered.bandwidths.isEmpty, "the callee set no limit")
    }
}
