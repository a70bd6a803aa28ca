import CallControl
import Primitives
import SDP
import SPiDR
import TestSupport
import Testing

/// What the ends of a call want to receive, from the request that said so to its last description.
struct CallPreferencesTests {
    private let offer: String
    private let answer: String

    init() throws {
        offer = try Fixtures.text("sdp/chromium-156/offer-audio.sdp")
        answer = try Fixtures.text("sdp/chromium-156/answer-audio.sdp")
    }

    private func audio(_ actions: [CallAction], _ type: Notification.EventType) throws -> MediaDescription {
        let sdp = actions.descriptions(type)
        let text = try #require(sdp.first)
        return try #require(try SessionDescription(parsing: text).media.first)
    }

    private func limits(_ media: MediaDescription) -> [UInt64] { media.bandwidths.map(\.value) }

    @Test func `each end's wishes reach the other, over what is configured, and stay for later offers`() throws {
        var configuration = Call.Configuration()
        configuration.mediaPolicy.preferences = MediaPreferences(
            audioBandwidth: 100, opus: OpusParameters(packetTime: 40))
        var rig = CallRig(callee: [CallRig.silent], isAnchored: true, configuration)

        let offered = try audio(rig.start(offer, wanting: MediaPreferences(audioBandwidth: 300)), .call)
        #expect(limits(offered) == [300, 300_000])
        #expect(offered.attributes.value(of: "ptime") == "40", "the configured value counts where the caller has none")
        let answered = try audio(rig.answer(answer, wanting: MediaPreferences(audioBandwidth: 64)), .respondCallUpdate)
        #expect(limits(answered) == [64, 64_000])

        let again = try audio(rig.offerUpdate(offer, by: .caller), .startCallUpdate)
        #expect(limits(again) == [300, 300_000])
    }

    @Test func `the media plane is told each leg's own numbers`() throws {
        var rig = CallRig(callee: [CallRig.silent], isAnchored: true)
        let wish = try #require(PayloadNumber("opus/48000/2", number: 114))
        #expect(
            try audio(rig.start(offer, wanting: MediaPreferences(payloadNumbers: [wish])), .call).formats.first == "114"
        )
        // What a browser says to that offer: red, whose packets name opus by its number, was not in it.
        let renumbered =
            answer.replacing("63 ", with: "").split(separator: "\r\n").filter {
                !$0.contains("red/") && !$0.hasPrefix("a=fmtp:63")
            }
            .joined(separator: "\r\n").replacing("111", with: "114") + "\r\n"
        let actions = try rig.answer(renumbered)
        #expect(try audio(actions, .respondCallUpdate).formats.first == "111")
        var first: [LegID: UInt8] = [:]
        for case .connectMedia(let leg, let agreed) in actions {
            first[leg] = agreed.media[0].codecs.first?.payloadType.rawValue
        }
        #expect(first == [.caller: 111, .callee: 114])
    }

    @Test func `a choice that leaves nothing is refused, and the call does not begin`() throws {
        var rig = CallRig(callee: [CallRig.silent], isAnchored: true)
        let error = #expect(throws: CallError.self) {
            try rig.start(offer, wanting: MediaPreferences(audioCodecs: ["speex"]))
        }
        guard case .unsupportedDescription(.noUsableMedia(let refusals)) = error else {
            return #expect(Bool(false), "\(String(describing: error))")
        }
        #expect(refusals.contains(.noChosenCodecs(["speex"])))
        #expect(rig.call.state == .initial)
    }
}
