import CallControl
import Primitives
import SDP
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
            let mode = MediaMode.anchored(PerLeg(caller: CallRig.identity("gwcaller"), callee: CallRig.identity("gwcallee")))
            let request = CallStartRequest(callee: CallRig.bob, sdp: ScriptedDescription.audio("alice", .sendReceive), acceptsEarlyMedia: listing)
            return try call.start(request, media: mode, at: clock.now, random: &random).traces
        }

        mutating func answer() throws -> [String] {
            let request = CallAnswerRequest(sdp: ScriptedDescription.audio("bobs", .sendReceive, setup: "active"))
            return try call.answer(by: .callee, request, at: clock.now, random: &random).traces
        }

        var state: LegState { call.legState(.caller) }
    }

    @Test func `the caller has a path at once, and the ringback tone when a device rings`() throws {
        var rig = Rig(Playback(.tone(.ringback)))
        #expect(try rig.start() == ["prepare callee", "prepare caller", "connect caller", "a1 sessionProgress", "b1 call"])
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
        #expect(try rig.start() == ["prepare callee", "prepare caller", "connect caller", "play #0 to caller", "a1 sessionProgress", "b1 call"])
        #expect(try rig.call.ringing(by: .callee).traces == ["a1 ringing"])
        #expect(rig.state == .ringing)
    }

    @Test func `a device that does not report that it rings is taken to ring when it is told`() throws {
        var rig = Rig(Playback(.tone(.ringback)), callee: CallRig.plain)
        #expect(
            try rig.start() == [
                "prepare callee", "prepare caller", "connect caller", "a1 sessionProgress", "b2 call", "play #0 to caller", "a1 ringing",
            ])
        #expect(rig.state == .ringing)
    }

    @Test func `an answer without ringing is an answer`() throws {
        var rig = Rig(Playback(.tone(.ringback)))
        _ = try rig.start()
        #expect(try rig.answer().contains("a1 respondCallUpdate"))
        #expect(rig.state == .inCall)
    }

    @Test(arguments: [(Playback?.none, true), (Playback(.tone(.ringback)), false)])
    func `a caller that does not list it, or a gateway that has none, waits without`(_ playback: Playback?, _ lists: Bool) throws {
        var rig = Rig(playback)
        #expect(try rig.start(listing: lists) == ["prepare callee", "b1 call"])
        #expect(rig.state == .dialing)
        #expect(try rig.call.ringing(by: .callee).traces == ["a1 ringing"])
    }
}
