import SDP
import TestSupport
import Testing

/// The SDP examples of the reference guide, each made by the setting it is printed for.
struct GuideExampleTests {
    struct Example: Sendable, CustomTestStringConvertible {
        let wishes: [PayloadNumber?]
        let printed: String
        /// Lines of the gateway's offer that differ from what is printed: printed line, line of the offer, m-line.
        var swappedInBundle: [(String, String, Int)] = []

        var testDescription: String { printed }
    }

    static let replacements = [
        Example(wishes: [], printed: "codecs-original"),
        Example(
            wishes: [PayloadNumber("opus/48000/2", number: 114), PayloadNumber("telephone-event/48000", number: 101)],
            printed: "codecs-opus-114-events-101",
            swappedInBundle: [
                ("rtpmap 101 rtx/90000", "rtpmap 110 rtx/90000", 1), ("fmtp 101 apt=100", "fmtp 110 apt=100", 1),
            ]),
        Example(
            wishes: [PayloadNumber("H264/90000", number: 126, parameters: ["profile-level-id": "42e029"])],
            printed: "codecs-h264-126",
            swappedInBundle: [("rtpmap 126 telephone-event/8000", "rtpmap 98 telephone-event/8000", 0)]),
        Example(wishes: [PayloadNumber("opus/48000/2", number: 105)], printed: "codecs-opus-105-swapped"),
    ]

    private static let head = "v=0\r\no=- 1173675450103298446 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n"

    private static func excerpt(_ name: String) throws -> SessionDescription {
        try SessionDescription(parsing: head + Fixtures.text("sdp/reference-guide/\(name).sdp"))
    }

    /// The m-lines of the examples are not bundled, so each has its numbers to itself: 101 is telephone-event and
    /// video's rtx.
    @Test(arguments: replacements)
    func `a codec replacement comes out as printed, line by line`(_ example: Example) throws {
        let wishes = try example.wishes.map { try #require($0) }
        var session = try Self.excerpt("codecs-original")
        let read = try PeerDescription(reading: session, as: .offer)
        for index in session.media.indices {
            PayloadNumbering(assigning: wishes, to: read.media[index].codecs).apply(to: &session.media[index])
        }
        let printed = try Self.excerpt(example.printed)
        for index in session.media.indices { #expect(session.lines(of: index) == printed.lines(of: index)) }
        #expect(session.serialized == printed.serialized)
    }

    /// What the gateway offers for an application with that setting: as printed, except where two bundled m-lines would
    /// have one number for two formats (RFC 9143 §9.1), and without what the relay withholds.
    @Test(arguments: replacements)
    func `the gateway's own offer has the printed codecs`(_ example: Example) throws {
        var call = TestCall(caller: MediaPreferences(payloadNumbers: try example.wishes.map { try #require($0) }))
        call.policy.withheldCodecs = [:]
        call.policy.feedback.append("transport-cc")
        call.policy.givesTransportFeedback = false
        let session = "a=group:BUNDLE audio video\r\na=fingerprint:sha-256 \(PeerText.digest)\r\na=setup:actpass\r\n"
        let offered = try call.offer(Self.head + session + Fixtures.text("sdp/reference-guide/codecs-original.sdp"))
        let printed = try Self.excerpt(example.printed)
        for index in printed.media.indices {
            var wanted = Self.codecLines(printed.media[index])
            for (line, swapped, media) in example.swappedInBundle where media == index {
                let place = try #require(wanted.firstIndex(of: line))
                wanted[place] = swapped
            }
            #expect(Self.codecLines(offered.media[index]) == wanted)
            let numbers = wanted.filter { $0.hasPrefix("rtpmap ") }.map { String($0.split(separator: " ")[1]) }
            #expect(offered.media[index].formats == numbers, "formats and rtpmaps are in one order in the guide")
        }
    }

    private static func codecLines(_ media: MediaDescription) -> [String] {
        media.attributes.filter { ["rtpmap", "fmtp", "rtcp-fb"].contains($0.name) }.map {
            "\($0.name) \($0.value ?? "")"
        }
    }

    @Test(arguments: [
        ("bandwidth-audio-video", MediaPreferences(audioBandwidth: 300, videoBandwidth: 1_000)),
        ("bandwidth-video", MediaPreferences(videoBandwidth: 1_000)),
    ])
    func `a bandwidth limit comes out as printed`(_ name: String, _ wishes: MediaPreferences) throws {
        let lines = try Fixtures.text("sdp/reference-guide/\(name).sdp").split(separator: "\r\n")
        let printed = lines.filter { !$0.hasPrefix("o=") && !$0.hasPrefix("s=") }
        var call = TestCall(caller: wishes)
        let offered = try call.offer(PeerText.audioAndVideo.text)
        let made = offered.media.indices.flatMap {
            offered.lines(of: $0).filter { $0.hasPrefix("m=") || $0.hasPrefix("c=") || $0.hasPrefix("b=") }
        }
        // The numbers and addresses are the gateway's own; the limits and their place are the guide's.
        #expect(
            made.map { $0.hasPrefix("b=") ? $0 : String($0.prefix(7)) }
                == printed.map { $0.hasPrefix("b=") ? String($0) : String($0.prefix(7)) })
    }

    @Test func `the named sets are those of the guide's table`() {
        let (webRTC, mobile) = (OpusParameterSet.webRTC.parameters, OpusParameterSet.mobile.parameters)
        #expect(
            webRTC.maximumPlaybackRate == 24_000 && webRTC.maximumAverageBitrate == 40_000 && webRTC.packetTime == 20)
        #expect(webRTC.usesDTX == false && webRTC.usesInbandFEC == true)
        #expect(
            mobile.maximumPlaybackRate == 16_000 && mobile.maximumAverageBitrate == 20_000 && mobile.packetTime == 60)
        #expect(mobile.usesDTX == true && mobile.usesInbandFEC == true)
    }
}
