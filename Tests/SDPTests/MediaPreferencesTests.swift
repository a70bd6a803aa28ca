import Primitives
import SDP
import TestSupport
import Testing

/// What an application wants to receive, and what the far side is told of it.
struct MediaPreferencesTests {
    private static func offer(_ path: String = "chromium-156/offer-audio-video") throws -> String {
        try Fixtures.text("sdp/\(path).sdp")
    }

    private static func audio(_ formats: String, _ attributes: String...) -> PeerText {
        var text = PeerText()
        text.lines[0].formats = formats
        text.lines[0].attributes = ["rtcp-mux"] + attributes
        return text
    }

    private static func names(_ media: MediaDescription) -> [String] {
        media.attributes.values(of: "rtpmap").compactMap { $0.split(separator: " ").last.map(String.init) }
    }

    // MARK: Codecs

    @Test func `codecs are offered in the wanted order, and no others`() throws {
        var call = TestCall(caller: MediaPreferences(audioCodecs: ["G722", "pcma", "PCMU"], videoCodecs: ["VP8"]))
        let media = try call.offer(Self.offer()).media
        #expect(
            Self.names(media[0]) == [
                "G722/8000", "PCMA/8000", "PCMU/8000", "CN/8000", "telephone-event/48000", "telephone-event/8000",
            ])
        #expect(Self.names(media[1]) == ["VP8/90000", "rtx/90000"], "rtx comes with its codec only")
    }

    @Test func `formats of one name keep their order, each with its retransmissions behind it`() throws {
        var call = TestCall(caller: MediaPreferences(videoCodecs: ["VP9", "H264"]))
        let formats = try call.offer(Self.offer()).media[1].formats
        #expect(formats.prefix(4) == ["98", "99", "100", "101"])
        #expect(formats.dropFirst(4).prefix(4) == ["102", "103", "104", "107"])
    }

    @Test func `the caller is answered with none but its own choice`() throws {
        var call = TestCall(caller: MediaPreferences(audioCodecs: ["PCMU"]))
        _ = try call.offer(Self.audio("111 0", "rtpmap:111 opus/48000/2").text)
        let answer = try call.answer(Self.audio("0 111", "rtpmap:111 opus/48000/2").answering.text)
        #expect(answer.media[0].formats == ["0"])
        #expect(call.caller.negotiated?.media[0].codecs.map(\.name) == ["PCMU"])
    }

    @Test func `the callee's choice is what the caller may send; what the callee accepted it may send itself`() throws {
        var call = TestCall(caller: MediaPreferences(), callee: MediaPreferences(audioCodecs: ["PCMU"]))
        let both = Self.audio("111 0", "rtpmap:111 opus/48000/2")
        _ = try call.offer(both.text)
        #expect(try call.answer(both.answering.text).media[0].formats == ["0"])
        #expect(call.callee.negotiated?.media[0].codecs.map(\.name) == ["opus", "PCMU"])
    }

    @Test func `peers whose choices differ are transcoded`() throws {
        var call = TestCall(caller: MediaPreferences(audioCodecs: ["PCMU"]))
        call.policy = .engine
        _ = try call.offer(Self.audio("111 0", "rtpmap:111 opus/48000/2").text)
        let answer = try call.answer(Self.audio("111", "rtpmap:111 opus/48000/2").answering.text)
        #expect(answer.media[0].formats == ["0"])
    }

    @Test func `a choice that leaves nothing is refused with its names`() throws {
        var call = TestCall(caller: MediaPreferences(audioCodecs: ["speex", "iLBC"]))
        #expect(throws: SDPError.noUsableMedia([.noChosenCodecs(["speex", "iLBC"])])) {
            try call.offer(PeerText().text)
        }
        #expect(call.caller.phase == .idle)
    }

    // MARK: Bandwidth

    @Test func `a limit goes to whoever sends, once, and to both directions of a re-offer`() throws {
        var call = TestCall(caller: MediaPreferences(audioBandwidth: 300), callee: MediaPreferences(audioBandwidth: 64))
        #expect(try call.offer(PeerText().text).media[0].bandwidths.map(\.value) == [300, 300_000])
        #expect(try call.answer(PeerText().answering.text).media[0].bandwidths.map(\.value) == [64, 64_000])
        #expect(try call.offer(PeerText().text).media[0].bandwidths.map(\.value) == [300, 300_000])
    }

    @Test(
        arguments: [
            ("b=AS:200", [("AS", 200)]), ("b=AS:400\r\nb=TIAS:200000", [("AS", 400), ("TIAS", 200_000)]),
            ("b=AS:400", [("AS", 300), ("TIAS", 300_000)]),
            ("b=CT:9\r\nb=TIAS:999999", [("AS", 300), ("TIAS", 300_000), ("CT", 9)]),
        ] as [(String, [(String, UInt64)])])
    func `the lower of two limits counts, and other lines stay`(_ lines: String, _ expected: [(String, UInt64)]) throws
    {
        var call = TestCall(caller: MediaPreferences(audioBandwidth: 300))
        let text = PeerText().text.replacing("c=IN IP4 0.0.0.0\r\n", with: "c=IN IP4 0.0.0.0\r\n\(lines)\r\n")
        #expect(try call.offer(text).media[0].bandwidths == expected.map { Bandwidth(type: $0, value: $1) })
    }

    // MARK: Opus

    @Test func `Opus parameters replace those that stand there and leave the others`() throws {
        let wishes = MediaPreferences(opus: OpusParameterSet.mobile.parameters)
        var call = TestCall(caller: wishes)
        let media = try call.offer(Self.offer()).media[0]
        #expect(
            media.attributes.values(of: "fmtp").contains(
                "111 minptime=10;useinbandfec=1;maxplaybackrate=16000;maxaveragebitrate=20000;usedtx=1"))
        #expect(media.attributes.value(of: "ptime") == "60")
        #expect(media.attributes.values(of: "fmtp").contains("63 111/111"), "red is left alone")
    }

    @Test func `without wishes a description passes as it is`() throws {
        var (plain, empty) = (TestCall(), TestCall(caller: MediaPreferences(), callee: MediaPreferences()))
        #expect(try plain.offer(Self.offer()) == empty.offer(Self.offer()))
        var blank = TestCall()
        let odd = Self.audio("111", "rtpmap:111 opus/48000/2", "fmtp:111 stereo=1; cbr=1")
        #expect(try blank.offer(odd.text).media[0].attributes.value(of: "fmtp") == "111 stereo=1; cbr=1")
    }

    @Test func `packet time stays within what the client says it can take`() throws {
        var call = TestCall(caller: MediaPreferences(opus: OpusParameters(packetTime: 60)))
        var text = PeerText()
        text.lines[0].attributes.append("maxptime:40")
        #expect(try call.offer(text.text).media[0].attributes.value(of: "ptime") == "40")
    }

    @Test(
        arguments: [
            (OpusParameters(maximumPlaybackRate: 7_999), .maximumPlaybackRate, 7_999),
            (OpusParameters(maximumPlaybackRate: 48_001), .maximumPlaybackRate, 48_001),
            (OpusParameters(maximumAverageBitrate: 5_999), .maximumAverageBitrate, 5_999),
            (OpusParameters(maximumAverageBitrate: 510_001), .maximumAverageBitrate, 510_001),
            (OpusParameters(packetTime: 2), .packetTime, 2), (OpusParameters(packetTime: 121), .packetTime, 121),
            (OpusParameters(packetTime: 22), .packetTime, 22),
        ] as [(OpusParameters, OpusParameters.Fault.Field, Int)])
    func `a value out of range is taken away and named`(
        _ parameters: OpusParameters, _ field: OpusParameters.Fault.Field, _ value: Int
    ) {
        var parameters = parameters
        let faults = parameters.removeOutOfRange()
        #expect(faults.map(\.field) == [field] && faults.map(\.value) == [value])
        #expect(parameters == OpusParameters())
    }

    @Test func `values in range stay`() {
        for time in [3, 5, 8, 10, 13, 20, 40, 60, 80, 100, 120] {
            var parameters = OpusParameters(
                maximumPlaybackRate: 8_000, maximumAverageBitrate: 510_000, packetTime: time)
            #expect(parameters.removeOutOfRange().isEmpty, "\(time)")
        }
    }

    @Test func `one wish is laid over another field by field`() {
        let base = MediaPreferences(
            audioCodecs: ["opus"], audioBandwidth: 100, opus: OpusParameterSet.webRTC.parameters)
        let both = base.overridden(by: MediaPreferences(videoBandwidth: 500, opus: OpusParameters(packetTime: 40)))
        #expect(both.audioCodecs == ["opus"] && both.audioBandwidth == 100 && both.videoBandwidth == 500)
        #expect(both.opus.packetTime == 40 && both.opus.maximumPlaybackRate == 24_000)
    }
}
