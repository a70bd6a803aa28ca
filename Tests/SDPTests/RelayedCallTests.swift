import Foundation
import Primitives
import SDP
import TestSupport
import Testing

/// Offers of real peers through the gateway, with the answers that real peers gave to what the gateway made of them.
struct RelayedCallTests {
    struct Scenario: Sendable, CustomTestStringConvertible {
        let offer: String
        let answer: String
        /// The names below `expected/`.
        let name: String

        var testDescription: String { name }
    }

    static let scenarios = [
        Scenario(
            offer: "chromium-156/offer-audio-video", answer: "chromium-156/answer-to-chromium-offer",
            name: "chromium-calls-chromium"),
        Scenario(
            offer: "chromium-156/offer-audio", answer: "chromium-156/answer-audio",
            name: "chromium-calls-chromium-audio"),
        Scenario(
            offer: "chromium-156/offer-audio-video-data", answer: "chromium-156/answer-to-chromium-offer",
            name: "chromium-calls-with-data"),
        Scenario(
            offer: "chromium-156/offer-recvonly", answer: "chromium-156/answer-to-chromium-recvonly",
            name: "chromium-listens"),
        Scenario(
            offer: "chromium-156/offer-audio-video", answer: "chromium-156/answer-video-inactive",
            name: "chromium-stops-video"),
        Scenario(
            offer: "chromium-156/offer-audio-video", answer: "chromium-156/answer-without-tracks",
            name: "chromium-answers-without-tracks"),
        Scenario(
            offer: "firefox-153/offer-audio-video-data", answer: "chromium-156/answer-to-firefox-offer",
            name: "firefox-calls-chromium"),
        Scenario(
            offer: "aiortc-1.16/offer-audio-video", answer: "chromium-156/answer-to-aiortc-offer",
            name: "aiortc-calls-chromium"),
        Scenario(
            offer: "aiortc-1.16/offer-audio-video", answer: "aiortc-1.16/answer-audio-video",
            name: "aiortc-calls-aiortc"),
        Scenario(
            offer: "chromium-156/offer-audio-video", answer: "aiortc-1.16/answer-to-chromium",
            name: "chromium-calls-aiortc"),
    ]

    @Test(arguments: scenarios)
    func `the gateway says what it should to both sides`(_ scenario: Scenario) throws {
        var call = TestCall()
        try expect(try call.offer(Fixtures.text("sdp/\(scenario.offer).sdp")), in: "\(scenario.name)-offer")
        try expect(try call.answer(Fixtures.text("sdp/\(scenario.answer).sdp")), in: "\(scenario.name)-answer")
    }

    @Test(arguments: scenarios)
    func `payload types, extension ids, mids and order are the same on both legs`(_ scenario: Scenario) throws {
        var call = TestCall()
        _ = try call.offer(Fixtures.text("sdp/\(scenario.offer).sdp"))
        _ = try call.answer(Fixtures.text("sdp/\(scenario.answer).sdp"))
        let caller = try #require(call.caller.negotiated).withoutTransportFeedback
        let callee = try #require(call.callee.negotiated).withoutTransportFeedback
        // What the gateway refuses is not offered on.
        let carried = caller.media.filter { !$0.isRejected }
        #expect(carried.map(\.mid) == callee.media.map(\.mid))
        #expect(callee.media.allSatisfy { !$0.isRejected })
        for (a, b) in zip(carried, callee.media) {
            #expect(a.direction == b.direction.reversed)
            #expect(a.codecs == b.codecs)
            #expect(a.extensions.map(\.id) == b.extensions.map(\.id))
            #expect(a.extensions.map(\.uri) == b.extensions.map(\.uri))
        }
        #expect(caller.transport.role == .server && callee.transport.role == .server)
    }

    @Test(arguments: scenarios)
    func `what the gateway offers is usable in every m-line that was`(_ scenario: Scenario) throws {
        var call = TestCall()
        let text = try Fixtures.text("sdp/\(scenario.offer).sdp")
        let offered = try call.offer(text)
        let read = try PeerDescription(reading: offered, as: .offer)
        #expect(read.isLite)
        #expect(
            try read.usableMedia.count
                == PeerDescription(reading: SessionDescription(parsing: text), as: .offer).usableMedia.count)
        #expect(read.transportMedia?.transport.hasAllCandidates == true)
        #expect(offered.attributes.value(of: "group") == "BUNDLE " + read.usableMedia.map(\.mid).joined(separator: " "))
    }

    // MARK: Answers by what they agree on

    /// What a stack answered to the gateway's offer on behalf of `chromium-156/offer-audio-video`, and what that means.
    struct CapturedAnswer: Sendable, CustomTestStringConvertible {
        let file: String
        let direction: MediaDirection
        /// The formats that it accepts, in its order.
        let audio: String
        let video: String
        /// What it names for VP8.
        var feedback: Set<String> = ["nack", "nack pli", "ccm fir", "goog-remb", "transport-cc"]
        var role = DTLSRole.server

        var testDescription: String { file }
    }

    /// Those of GStreamer, Pion and libwebrtc had no track to send.
    static let capturedAnswers = [
        CapturedAnswer(
            file: "firefox-153/answer-to-chromium-offer", direction: .sendReceive, audio: "111 9 0 8 126",
            video: "96 97 45 46 98 99"),
        CapturedAnswer(
            file: "gstreamer-1.22/answer-to-chromium-offer", direction: .receiveOnly, audio: "111", video: "96",
            feedback: ["nack pli", "ccm fir", "transport-cc"]),
        CapturedAnswer(
            file: "pion-3.1.56/answer-to-chromium-offer", direction: .receiveOnly, audio: "111 9 0 8",
            video: "96 97 102 103 104 108 109 114 98 99", role: .client),
        CapturedAnswer(
            file: "wrtc-0.1.0/answer-to-chromium-offer", direction: .receiveOnly, audio: "111 63 9 0 8 13 110 126",
            video: "96 97 45 46 98 99 100 101"),
    ]

    @Test(arguments: capturedAnswers)
    func `the caller is answered every format that the callee accepts, and no other`(_ answer: CapturedAnswer) throws {
        var call = TestCall()
        _ = try call.offer(Fixtures.text("sdp/chromium-156/offer-audio-video.sdp"))
        let media = try call.answer(Fixtures.text("sdp/\(answer.file).sdp")).media
        #expect(media.map { $0.formats.joined(separator: " ") } == [answer.audio, answer.video])
        #expect(media.map(\.port) == [7_001, 7_001])
        for section in media { #expect(section.attributes.contains(answer.direction.rawValue)) }
    }

    @Test(arguments: capturedAnswers)
    func `both legs agree on what the callee accepts`(_ answer: CapturedAnswer) throws {
        var call = TestCall()
        _ = try call.offer(Fixtures.text("sdp/chromium-156/offer-audio-video.sdp"))
        _ = try call.answer(Fixtures.text("sdp/\(answer.file).sdp"))
        let (caller, callee) = (try #require(call.caller.negotiated), try #require(call.callee.negotiated))
        #expect(callee.transport.role == answer.role)
        #expect(caller.media.count == 2 && callee.media.count == 2)
        for (a, b) in zip(caller.media, callee.media) {
            #expect(a.direction == answer.direction)
            #expect(b.direction == answer.direction.reversed)
            #expect(a.codecs.map(\.payloadType) == b.codecs.map(\.payloadType))
            #expect(zip(a.codecs, b.codecs).allSatisfy { $0.isSameFormat(as: $1) })
        }
        let video = try #require(callee.media.last?.codecs.first)
        #expect(video.isNamed("VP8"))
        #expect(Set(video.feedback) == answer.feedback)
    }

    /// Firefox leaves out the `profile-id=0` that Chromium offers (RFC 9628 §7.1).
    @Test func `Firefox's VP9 is Chromium's`() throws {
        var call = TestCall(caller: MediaPreferences(videoCodecs: ["VP9"]))
        let offered = try call.offer(Fixtures.text("sdp/chromium-156/offer-audio-video.sdp")).media[1]
        #expect(offered.formats == ["98", "99", "100", "101"], "what Firefox was offered")
        let text = try Fixtures.text("sdp/firefox-153/answer-to-vp9-offer.sdp")
        #expect(!text.contains("profile-id"))
        let answered = try call.answer(text).media[1]
        #expect(answered.port == 7_001)
        #expect(answered.formats == ["98", "99"])
        #expect(answered.attributes.values(of: "fmtp") == ["98 max-fs=12288;max-fr=60", "99 apt=98"])
        for leg in [call.caller.negotiated, call.callee.negotiated] {
            let video = try #require(leg?.media.last)
            #expect(!video.isRejected && video.direction == .sendReceive)
            #expect(video.codecs.map(\.name) == ["VP9", "rtx"])
        }
    }

    /// Compares with the file of that name; writes it instead when `ORBWEAVER_WRITE_EXPECTED` is set.
    private func expect(_ description: SessionDescription, in name: String) throws {
        let path = "sdp/expected/\(name).sdp"
        if ProcessInfo.processInfo.environment["ORBWEAVER_WRITE_EXPECTED"] != nil {
            try Data(description.serialized.utf8).write(to: Fixtures.root.appending(path: path))
        }
        let expected = try SessionDescription(parsing: Fixtures.text(path))
        #expect(description.attributes == expected.attributes)
        for index in description.media.indices { #expect(description.lines(of: index) == expected.lines(of: index)) }
        #expect(description == expected)
    }
}

extension NegotiatedLeg {
    /// What both legs have alike: congestion control is each leg's own.
    fileprivate var withoutTransportFeedback: NegotiatedLeg {
        var leg = self
        for line in leg.media.indices {
            leg.media[line].extensions.removeAll { $0.uri == HeaderExtension.transportSequenceNumber }
            for index in leg.media[line].codecs.indices {
                leg.media[line].codecs[index].feedback.removeAll { $0 == Codec.transportFeedback }
            }
        }
        return leg
    }
}
