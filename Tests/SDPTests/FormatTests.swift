import Primitives
import SDP
import TestSupport
import Testing

/// Formats are compared by what their parameters mean.
struct FormatTests {
    struct Pair: Sendable, CustomTestStringConvertible {
        let name: String
        let first: String?
        let second: String?
        let areSame: Bool

        init(_ name: String, _ first: String?, _ second: String?, _ areSame: Bool) {
            (self.name, self.first, self.second, self.areSame) = (name, first, second, areSame)
        }

        var testDescription: String { "\(name) \(first ?? "-") \(areSame ? "is" : "is not") \(second ?? "-")" }
    }

    /// H.264 with a profile.
    private static func h264(_ first: String, _ second: String, _ areSame: Bool) -> Pair {
        Pair("H264", "profile-level-id=\(first)", "profile-level-id=\(second)", areSame)
    }

    static let pairs = [
        // RFC 9628 §7.1: profile-id is 0 if it is not there.
        Pair("VP9", nil, "profile-id=0", true), Pair("VP9", "profile-id=0", "max-fs=12288;max-fr=60", true),
        Pair("VP9", nil, "profile-id=2", false), Pair("vp9", "profile-id=1", "Profile-Id=1; max-fr=30", true),
        // RTP Payload Format for AV1 §7.2: profile and tier are 0 if they are not there; level-idx is what a receiver
        // takes.
        Pair("AV1", nil, "level-idx=5;profile=0;tier=0", true), Pair("AV1", "profile=0;level-idx=8", "profile=0", true),
        Pair("AV1", nil, "profile=1", false), Pair("AV1", nil, "tier=1", false),
        // RFC 7798 §7.1: profile-id is 1 and tx-mode SRST if they are not there; levels differ freely.
        Pair("H265", "level-id=93", "profile-id=1;tier-flag=0;level-id=120;tx-mode=SRST", true),
        Pair("H265", nil, "profile-id=2", false),
        Pair("H265", nil, "tier-flag=1", false), Pair("H265", nil, "tx-mode=MRST", false),
        // RFC 6184 §8.2.2: the level may differ; hexadecimal digits have no case.
        h264("42e01f", "42e00b", true), h264("42e01f", "42E01F", true), h264("4D001F", "4d0033", true),
        // RFC 6184 §8.1, table 5: several numbers for one profile, whichever of the marked bits (x) are set.
        h264("42e01f", "42c01f", true), h264("42e01f", "42401f", true), h264("42e01f", "4d801f", true),
        h264("42e01f", "4de01f", true),
        h264("42e01f", "58c01f", true), h264("42001f", "42801f", true), h264("42001f", "58801f", true),
        h264("4d001f", "4d401f", true),
        h264("58001f", "58201f", true), h264("64001f", "640032", true),
        h264("42e01f", "42001f", false), h264("42e01f", "4d001f", false), h264("42001f", "4d001f", false),
        h264("42001f", "58001f", false),
        h264("64001f", "640c1f", false), h264("64001f", "6e001f", false), h264("6e001f", "6e101f", false),
        h264("42e01f", "42e11f", false),
        // RFC 6184 §8.1: without profile-level-id it is Baseline; without packetization-mode it is 0.
        Pair("H264", nil, "profile-level-id=42000a", true), Pair("H264", nil, "profile-level-id=42e01f", false),
        Pair("H264", "profile-level-id=42e01f", "packetization-mode=0;profile-level-id=42e01f", true),
        Pair("H264", "profile-level-id=42e01f", "packetization-mode=1;profile-level-id=42e01f", false),
        Pair(
            "H264", "sprop-parameter-sets=Z0LAFdk=;profile-level-id=42e01f",
            "level-asymmetry-allowed=1;profile-level-id=42e01f", true),
        // What cannot be read is no profile that anything else is.
        h264("42e0", "42e01f", false), h264("x2e01f", "42e01f", false), h264("+2e01f", "02e01f", false),
        // RFC 7587 §7.1, RFC 4733 §7.1.1: parameters are each side's own.
        Pair("opus", nil, "minptime=10;useinbandfec=1;stereo=1", true), Pair("telephone-event", "0-15", "0-16", true),
        Pair("VP8", "max-fs=12288", nil, true),
    ]

    @Test(arguments: pairs)
    func `parameters are compared by meaning`(_ pair: Pair) throws {
        let format = { (parameters: String?) in
            Codec(
                payloadType: PayloadType(maskingHeaderByte: 100), name: pair.name, clockRate: 90_000,
                parameters: parameters)
        }
        #expect(format(pair.first).isSameFormat(as: format(pair.second)) == pair.areSame)
        #expect(format(pair.second).isSameFormat(as: format(pair.first)) == pair.areSame)
    }

    /// The same format as five stacks write it: file and payload type.
    static let captured: [String: [(String, UInt8)]] = [
        "opus": [(chromium, 111), (firefox, 109), (gstreamer, 111), (pion, 111), (wrtc, 111), (aiortc, 96)],
        "telephone-event at 8 kHz": [(chromium, 126), (firefox, 101), (wrtc, 126)],
        "telephone-event at 48 kHz": [(chromium, 110), (wrtc, 110)],
        "G.722": [(chromium, 9), (firefox, 9), (pion, 9)],
        "H.264 constrained baseline, mode 1": [(chromium, 108), (pion, 125), (gstreamer, 102), (aiortc, 101)],
        "H.264 constrained baseline, mode 0": [(chromium, 114), (pion, 108)],
        "H.264 baseline, mode 1": [(chromium, 102), (pion, 102), (aiortc, 99)],
        "H.264 baseline, mode 0": [(chromium, 104), (pion, 127)],
        "H.264 main, mode 1": [(chromium, 116)],
        "H.264 high, mode 1": [(pion, 123)],
        "VP9 profile 0": [(chromium, 98), (firefox, 121), (gstreamerVP9, 98), (pion, 98), (wrtc, 98)],
        "VP9 profile 1": [(pion, 100)],
        "VP9 profile 2": [(chromium, 100), (wrtc, 100)],
        "AV1": [(chromium, 45), (firefox, 99), (wrtc, 39)],
    ]

    private static let chromium = "chromium-156/offer-audio-video"
    private static let firefox = "firefox-153/offer-audio-video-data"
    private static let gstreamer = "gstreamer-1.22/offer-opus-h264"
    private static let gstreamerVP9 = "gstreamer-1.22/offer-opus-vp9"
    private static let pion = "pion-3.1.56/offer-audio-video"
    private static let wrtc = "wrtc-0.1.0/offer-audio-video"
    private static let aiortc = "aiortc-1.16/offer-audio-video"

    @Test func `every stack's way to write a format is known, and none is taken for another`() throws {
        let formats = try Self.captured.flatMap { name, places in
            try places.map { file, number in
                let offer = try PeerDescription(
                    reading: SessionDescription(parsing: Fixtures.text("sdp/\(file).sdp")), as: .offer)
                let codec = offer.media.flatMap(\.codecs).codec(for: PayloadType(maskingHeaderByte: number))
                return (name: name, source: "\(file) \(number)", codec: try #require(codec, "\(file) \(number)"))
            }
        }
        for first in formats {
            for second in formats {
                let areSame = first.codec.isSameFormat(as: second.codec)
                #expect(areSame == (first.name == second.name), "\(first.source) and \(second.source)")
            }
        }
    }

    // MARK: In a call

    /// A call with one video format, offered and answered with these parameters: the video port that the caller is
    /// answered.
    private func videoPort(_ name: String, offered: String?, answered: String?) throws -> UInt16 {
        func description(_ parameters: String?) -> PeerText {
            var text = PeerText.audioAndVideo
            text.lines[1].formats = "102"
            text.lines[1].attributes =
                ["rtcp-mux", "rtpmap:102 \(name)/90000"] + (parameters.map { ["fmtp:102 \($0)"] } ?? [])
            return text
        }
        var call = TestCall()
        _ = try call.offer(description(offered).text)
        let media = try call.answer(description(answered).answering.text).media
        #expect(media[0].port == 7_001)
        #expect(
            call.callee.negotiated?.media[1].isRejected == call.caller.negotiated?.media[1].isRejected,
            "both legs agree on that")
        return media[1].port
    }

    @Test(
        arguments: [
            ("VP9", "profile-id=0", nil), ("VP9", nil, "profile-id=0"),
            ("VP9", "profile-id=0", "max-fs=12288;max-fr=60"),
            ("AV1", "level-idx=5;profile=0;tier=0", nil),
            ("H264", baseline, "packetization-mode=1;profile-level-id=42e00b"),
            ("H264", baseline, "packetization-mode=1;profile-level-id=42E01F"),
            ("H264", baseline, "packetization-mode=1;profile-level-id=42c01f"),
            ("H264", baseline, "packetization-mode=1;level-asymmetry-allowed=1"),
        ] as [(String, String?, String?)])
    func `an answer that writes its parameters in another way accepts the picture`(
        _ name: String, _ offered: String?, _ answered: String?
    ) throws {
        #expect(try videoPort(name, offered: offered, answered: answered) == 7_001)
    }

    private static let baseline = "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f"

    @Test(
        arguments: [
            ("VP9", "profile-id=2", nil), ("H264", baseline, "packetization-mode=0;profile-level-id=42e01f"),
            ("H264", baseline, "packetization-mode=1;profile-level-id=640c1f"),
        ] as [(String, String?, String?)])
    func `an answer with another profile takes the format out (RFC 6184 §8.2.2)`(
        _ name: String, _ offered: String?, _ answered: String?
    ) throws {
        #expect(try videoPort(name, offered: offered, answered: answered) == 0)
    }

    /// An answer of GStreamer names none, and means the one that was offered.
    @Test func `the caller is told the profile of its offer where the answer has none`() throws {
        var call = TestCall()
        var offer = PeerText.audioAndVideo
        offer.lines[1].formats = "102"
        offer.lines[1].attributes = ["rtcp-mux", "rtpmap:102 H264/90000", "fmtp:102 " + Self.baseline]
        _ = try call.offer(offer.text)
        offer.lines[1].attributes[2] = "fmtp:102 packetization-mode=1;level-asymmetry-allowed=1"
        let answered = try call.answer(offer.answering.text).media[1].attributes.value(of: "fmtp")
        #expect(answered == "102 packetization-mode=1;level-asymmetry-allowed=1;profile-level-id=42e01f")
    }

    @Test func `a format keeps its own number where another of the same meaning comes first`() throws {
        var call = TestCall()
        var offer = PeerText.audioAndVideo
        offer.lines[1].formats = "102 104"
        offer.lines[1].attributes =
            ["rtcp-mux"] + [102, 104].flatMap { ["rtpmap:\($0) H264/90000", "fmtp:\($0) \(Self.baseline)"] }
        _ = try call.offer(offer.text)
        offer.lines[1].formats = "104"
        #expect(try call.answer(offer.answering.text).media[1].formats == ["104"])
    }

    @Test(arguments: ["opus/48000", "OPUS/48000", "opus/48000/1", "opus/48000/2"])
    func `opus has two channels, whatever is written (RFC 7587 §7)`(_ encoding: String) throws {
        var call = TestCall()
        var offer = PeerText()
        offer.lines[0].attributes[1] = "rtpmap:111 \(encoding)"
        let offered = try call.offer(offer.text).media[0].attributes.value(of: "rtpmap")
        #expect(offered == "111 \(encoding.prefix(4))/48000/2")
        #expect(try call.answer(PeerText().answering.text).media[0].formats == ["111", "0"])
    }
}
