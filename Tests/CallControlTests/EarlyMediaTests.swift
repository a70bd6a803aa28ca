import CallControl
import CallSupport
import Primitives
import SDP
import SPiDR
import TestSupport
import Testing

/// What a caller that lists `earlymedia` is given before the answer (spidr-wire §8.3).
struct EarlyMediaTests {
    private struct Rig {
        var call: Call
        let clock = VirtualClock()
        var random = SeededRandomSource(seed: 6)

        init(_ playback: Playback?, callee device: Device = CallRig.silent) {
            var configuration = Call.Configuration()
            configuration.mediaPolicy = .engine
            configuration.earlyMedia = playback
            call = Call(
                id: CallID(7),
                parties: PerLeg(
                    caller: CallParty(user: CallRig.alice, name: "Alice", session: "A", devices: [Device("a1")]),
                    callee: CallParty(user: CallRig.bob, name: "Bob", session: "B", devices: [device])),
                configuration: configuration)
        }

        mutating func start(listing: Bool = true) throws -> [String] {
            try start(offering: ScriptedDescription.audio("alice", .sendReceive), listing: listing).traces
        }

        mutating func start(offering sdp: String, listing: Bool = true) throws -> [CallAction] {
            let mode = MediaMode.anchored(
                PerLeg(caller: CallRig.identity("gwcaller"), callee: CallRig.identity("gwcallee")))
            let request = CallStartRequest(callee: CallRig.bob, sdp: sdp, acceptsEarlyMedia: listing)
            return try call.start(request, media: mode, at: clock.now, random: &random)
        }

        mutating func answer() throws -> [String] {
            let request = CallAnswerRequest(sdp: ScriptedDescription.audio("bobs", .sendReceive, setup: "active"))
            return try call.answer(by: .callee, request, at: clock.now, random: &random).traces
        }

        var state: LegState { call.legState(.caller) }
    }

    @Test func `the caller has a path at once, and the ringback tone when a device rings`() throws {
        var rig = Rig(Playback(.tone(.ringback)))
        #expect(
            try rig.start() == ["prepare callee", "prepare caller", "connect caller", "a1 sessionProgress", "b1 call"])
        #expect(rig.state == .sessionProgress)
        #expect(try rig.call.ringing(by: .callee).traces == ["play #0 to caller", "a1 ringing"])
        #expect(rig.state == .ringing)
        #expect(try rig.call.ringing(by: .callee).traces == [], "once")
        #expect(try rig.answer().first == "stop caller")
        #expect(rig.state == .inCall)
    }

    @Test(arguments: [.file("welcome.wav"), .music] as [Playback.Source])
    func `what does not say that it rings is heard from the beginning`(_ source: Playback.Source) throws {
        var rig = Rig(Playback(source))
        #expect(
            try rig.start() == [
                "prepare callee", "prepare caller", "connect caller", "play #0 to caller", "a1 sessionProgress",
                "b1 call",
            ])
        #expect(try rig.call.ringing(by: .callee).traces == ["a1 ringing"])
        #expect(rig.state == .ringing)
    }

    @Test func `a device that does not report that it rings is taken to ring when it is told`() throws {
        var rig = Rig(Playback(.tone(.ringback)), callee: CallRig.plain)
        #expect(
            try rig.start() == [
                "prepare callee", "prepare caller", "connect caller", "a1 sessionProgress", "b2 call",
                "play #0 to caller", "a1 ringing",
            ])
        #expect(rig.state == .ringing)
    }

    /// What is rejected ahead of the answer cannot be had with it any more.
    @Test(arguments: ["VP8/90000", "VP9/90000", "H264/90000", "AV1/90000"])
    func `a picture of any codec is kept open, and agreed with the answer`(_ codec: String) throws {
        func described(_ ufrag: String, setup: String) -> String {
            ScriptedDescription.audio(ufrag, .sendReceive, video: .sendReceive, setup: setup).replacing(
                "VP8/90000", with: codec)
        }
        var rig = Rig(Playback(.tone(.ringback)))
        let progress = try rig.start(offering: described("alice", setup: "actpass")).description(of: .sessionProgress)
        #expect(progress.media.map(\.port) == [7_000, 7_000])
        #expect(
            progress.media[1].attributes.contains("inactive")
                && progress.media[1].attributes.value(of: "rtpmap") == "96 \(codec)")
        let request = CallAnswerRequest(sdp: described("bobs", setup: "active"))
        let final = try rig.call.answer(by: .callee, request, at: rig.clock.now, random: &rig.random).description(
            of: .respondCallUpdate)
        #expect(final.media.map(\.port) == [7_000, 7_000])
        #expect(
            final.media[1].attributes.contains("sendrecv")
                && final.media[1].attributes.value(of: "rtpmap") == "96 \(codec)")
    }

    @Test func `audio that the gateway cannot send is kept open beside audio that it can`() throws {
        var rig = Rig(Playback(.tone(.ringback)))
        let offer = ScriptedDescription.audio("alice", .sendReceive, video: .sendReceive)
            .replacing("m=video", with: "m=audio").replacing("VP8/90000", with: "iLBC/8000")
        let progress = try rig.start(offering: offer).description(of: .sessionProgress)
        #expect(progress.media.map(\.port) == [7_000, 7_000])
        #expect(progress.media.map { $0.attributes.contains("inactive") } == [false, true])
    }

    @Test func `without audio that the gateway can send there is nothing ahead of the answer`() throws {
        var rig = Rig(Playback(.tone(.ringback)))
        let offer = ScriptedDescription.audio("alice", .sendReceive, video: .sendReceive).replacing(
            "opus/48000/2", with: "iLBC/8000")
        #expect(try rig.start(offering: offer).traces == ["prepare callee", "b1 call"])
    }

    @Test func `an answer without ringing is an answer`() throws {
        var rig = Rig(Playback(.tone(.ringback)))
        _ = try rig.start()
        #expect(try rig.answer().contains("a1 respondCallUpdate"))
        #expect(rig.state == .inCall)
    }

    @Test(arguments: [(Playback?.none, true), (Playback(.tone(.ringback)), false)])
    func `a caller that does not list it, or a gateway that has none, waits without`(
        _ playback: Playback?, _ lists: Bool
    ) throws {
        var rig = Rig(playback)
        #expect(try rig.start(listing: lists) == ["prepare callee", "b1 call"])
        #expect(rig.state == .dialing)
        #expect(try rig.call.ringing(by: .callee).traces == ["a1 ringing"])
    }
}

extension [CallAction] {
    /// What a notification of this kind describes.
    fileprivate func description(of type: Notification.EventType) throws -> SessionDescription {
        try SessionDescription(parsing: #require(descriptions(type).first))
    }
}
