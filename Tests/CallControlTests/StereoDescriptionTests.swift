import CallControl
import CallSupport
import Primitives
import SDP
import SPiDR
import TestSupport
import Testing

/// Two channels of Opus where the gateway itself is the far side (RFC 7587 §7.1): it takes two from who sends them, and
/// sends two to who takes them.
struct StereoDescriptionTests {
    @Test(arguments: [
        ("stereo=1", "sprop-stereo=1"), ("sprop-stereo=1", "stereo=1"),
        ("useinbandfec=1;stereo=1;sprop-stereo=1", "useinbandfec=1;stereo=1;sprop-stereo=1"),
        ("minptime=10;useinbandfec=1", "minptime=10;useinbandfec=1"),
    ])
    func `a caller is told what the gateway does, and the media plane what the caller said`(
        _ said: String, _ told: String
    ) throws {
        var configuration = Call.Configuration()
        configuration.mediaPolicy = .engine
        configuration.earlyMedia = Playback(.tone(.ringback))
        let parties = PerLeg(
            caller: CallParty(user: MidCallRig.alice, name: "Alice", session: "A", devices: [Device("a1")]),
            callee: CallParty(user: MidCallRig.bob, name: "Bob", session: "B", devices: [CallRig.plain]))
        var call = Call(id: CallID(7), parties: parties, configuration: configuration)
        var random = SeededRandomSource(seed: 3)
        let offer = ScriptedDescription.audio("caller", .sendReceive)
            .replacing("a=rtpmap:111 opus/48000/2", with: "a=rtpmap:111 opus/48000/2\r\na=fmtp:111 \(said)")
        let mode = MediaMode.anchored(
            PerLeg(caller: CallRig.identity("gwcaller"), callee: CallRig.identity("gwcallee")))
        let request = CallStartRequest(callee: MidCallRig.bob, sdp: offer, acceptsEarlyMedia: true)
        let actions = try call.start(request, media: mode, at: VirtualClock().now, random: &random)

        let answers = actions.told.filter { $0.leg == .caller }.compactMap(\.notification.sdp)
        var agreements: [NegotiatedLeg] = []
        for action in actions {
            switch action {
            case .connectMedia(.caller, let agreement): agreements.append(agreement)
            default: break
            }
        }
        let parameters = try answers.map { try SessionDescription(parsing: $0).media[0].attributes.value(of: "fmtp") }
        #expect(parameters == ["111 " + told])
        #expect(agreements.map { $0.media[0].describedCodecs?.map(\.parameters) } == [[said]])
    }
}
