import CallControl
import SDP
import SPiDR
import Testing

/// `mediaPreferences` of `callStart` and `callAnswer`.
struct MediaPreferencesFieldTests {
    private func request(_ preferences: String, type: String = "callStart") throws -> CallControlRequest {
        let text =
            #"{"callControlRequest":{"type":"\#(type)","to":"ann","sdp":"v=0","mediaPreferences":\#(preferences)}}"#
        return try read(CallControlRequest.self, from: text)
    }

    private func meaning(_ text: String) throws -> ClientRequest.Meaning {
        try ClientRequest.creation(request(text)).meaning()
    }

    private func preferences(_ text: String) throws -> MediaPreferences {
        guard case .start(let start) = try meaning(text).request else { return MediaPreferences() }
        return start.mediaPreferences
    }

    private static let everything = #"""
        {"audioCodecs":["G722","PCMA"],"videoCodecs":["VP8"],"payloadNumbers":[{"codec":"opus/48000/2","number":114},
        {"codec":"H264/90000","number":"126","parameters":{"profile-level-id":"42e029"}}],"audioReceiveBandwidth":300,
        "videoReceiveBandwidth":"1000","opus":{"maxPlaybackRate":24000,"maxAverageBitrate":25000,"dtx":true,"fec":"true","ptime":60}}
        """#

    @Test func `every field is read, for the caller and for the callee`() throws {
        let wanted = MediaPreferences(
            audioCodecs: ["G722", "PCMA"], videoCodecs: ["VP8"],
            payloadNumbers: [
                try #require(PayloadNumber("opus/48000/2", number: 114)),
                try #require(PayloadNumber("H264/90000", number: 126, parameters: ["profile-level-id": "42e029"])),
            ],
            audioBandwidth: 300, videoBandwidth: 1_000,
            opus: OpusParameters(
                maximumPlaybackRate: 24_000, maximumAverageBitrate: 25_000, usesDTX: true, usesInbandFEC: true,
                packetTime: 60))
        #expect(try preferences(Self.everything) == wanted)
        guard
            case .command(_, .answer(let answer)) = try ClientRequest.operation(
                request(Self.everything, type: "callAnswer"), on: SessionID("A1")
            ).meaning().request
        else { return #expect(Bool(false)) }
        #expect(answer.mediaPreferences == wanted)
        #expect(try meaning(Self.everything).warnings == nil)
    }

    @Test func `none, null and an empty object want nothing`() throws {
        #expect(try preferences("null").isEmpty && preferences("{}").isEmpty && preferences(#"{"opus":{}}"#).isEmpty)
    }

    @Test func `the sets of the guide, and single values over them`() throws {
        #expect(try preferences(#"{"opus":{"set":"mobile"}}"#).opus == OpusParameterSet.mobile.parameters)
        // "Use the Mobile SDK preferred set with changes"
        let changed = try preferences(#"{"opus":{"set":"mobile","maxAverageBitrate":25000,"maxPlaybackRate":24000}}"#)
            .opus
        #expect(changed.maximumAverageBitrate == 25_000 && changed.maximumPlaybackRate == 24_000)
        #expect(changed.usesDTX == true && changed.packetTime == 60)
        // "Use the WebRTC default set with changes"
        let webRTC = try preferences(
            #"{"opus":{"set":"webrtc","maxAverageBitrate":25000,"maxPlaybackRate":24000,"ptime":60,"dtx":true,"fec":true}}"#
        ).opus
        #expect(
            webRTC
                == OpusParameters(
                    maximumPlaybackRate: 24_000, maximumAverageBitrate: 25_000, usesDTX: true, usesInbandFEC: true,
                    packetTime: 60))
    }

    @Test func `an Opus value out of range is ignored for that of the set, and named`() throws {
        let text = #"{"opus":{"set":"webrtc","maxPlaybackRate":96000,"maxAverageBitrate":1,"ptime":2}}"#
        #expect(try preferences(text).opus == OpusParameterSet.webRTC.parameters)
        #expect(
            try meaning(text).warnings == [
                "callControlRequest.mediaPreferences.opus.maxPlaybackRate: 96000 is ignored: RFC 7587 allows 8000 to 48000 Hz",
                "callControlRequest.mediaPreferences.opus.maxAverageBitrate: 1 is ignored: RFC 7587 allows 6000 to 510000 bit/s",
                "callControlRequest.mediaPreferences.opus.ptime: 2 is ignored: RFC 7587 allows 3 to 120 ms, "
                    + "each a multiple of 2.5 ms rounded up",
            ])
    }

    @Test(arguments: [
        (#"{"audioCodecs":[]}"#, "mediaPreferences.audioCodecs\" must name 1 to 32 codecs"),
        (#"{"videoCodecs":["VP8","VP 9"]}"#, "mediaPreferences.videoCodecs.1\" is not the name of a codec"),
        (#"{"payloadNumbers":[{"codec":"opus","number":114}]}"#, "payloadNumbers.0.codec\" must be as in a=rtpmap"),
        (#"{"payloadNumbers":[{"codec":"opus/48000/2","number":95}]}"#, "payloadNumbers.0.number\" must be 96 to 127"),
        (
            #"{"payloadNumbers":[{"codec":"opus/48000/2","number":100},{"codec":"VP8/90000","number":100}]}"#,
            "payloadNumbers\" gives 100 to both opus/48000/2 and VP8/90000"
        ),
        (#"{"audioReceiveBandwidth":0}"#, "audioReceiveBandwidth\" must be 1 to 1000000 kbit/s"),
        (#"{"opus":{"set":"phone"}}"#, "opus.set\" must be \"webrtc\" or \"mobile\""),
    ])
    func `a value that cannot be used is refused by name`(_ text: String, _ expected: String) throws {
        let fault = try #require(#expect(throws: RequestFault.self) { try preferences(text) })
        #expect(fault.sentence.contains(expected), "\(fault.sentence)")
        guard case .unusable = fault else {
            Issue.record("\(fault)")
            return
        }
    }
}
