import CallControl
import CallSupport
import Primitives
import SDP
import TestSupport
import Testing

/// Several devices of one user, and what each of them may be told (spidr-wire §6.2, §6.5, §6.6).
struct CallDeviceTests {
    @Test(arguments: [
        ([CallRig.silent], ["b1 call"]),
        ([CallRig.plain], ["b2 call", "a1 ringing"]),
        ([CallRig.silent, CallRig.plain], ["b1+b2 call", "a1 ringing"]),
        ([CallRig.silent, Device("b3", sendsRingingFeedback: true)], ["b1+b3 call"]),
    ])
    func `the caller hears of ringing at once if a device does not report it by itself`(
        _ devices: [Device], _ actions: [String]
    ) {
        var rig = CallRig(callee: devices)
        #expect(rig.take(.start) == actions)
    }

    @Test func `a device that does not report ringing is assumed to ring when it is invited`() throws {
        var rig = CallRig(callee: [CallRig.silent, CallRig.plain])
        #expect(Self.rings(try rig.start()) == ["b2"])
        #expect(Self.rings(try rig.call.ringing(by: .callee, from: "b1")) == ["b1"])
        let joined = DeviceChange.joined(Device("b3"), replacing: nil)
        #expect(Self.rings(rig.call.deviceChanged(.callee, joined, at: rig.clock.now)) == ["b3"])
    }

    private static func rings(_ actions: [CallAction]) -> [SubscriptionID?] {
        actions.compactMap { action in
            guard case .event(let event) = action, case .rings(let device) = event.fact else { return nil }
            return .some(device)
        }
    }

    @Test func `quality is reported to the subscriptions that ask for it, and measured for nobody else`() throws {
        var rig = CallRig()
        _ = rig.take(.start)
        _ = rig.take(.answer(.callee))
        func receivers() -> [[SubscriptionID]?] {
            rig.call.qualityMeasured(CallQuality(roundTrip: .milliseconds(12)), for: .callee).compactMap { action in
                guard case .event(let event) = action, case .qualityMeasured = event.fact else { return nil }
                return .some(event.audience?.devices)
            }
        }
        #expect(receivers() == [nil], "a fact that nobody is told")
        _ = rig.call.deviceChanged(.callee, .qualityReporting(to: ["b2", "dashboard"]), at: rig.clock.now)
        #expect(receivers() == [["b2", "dashboard"]])
    }

    @Test func `only the first ringing is passed on`() {
        var rig = CallRig(callee: [CallRig.silent, Device("b3", sendsRingingFeedback: true)])
        _ = rig.take(.start)
        #expect(rig.take(.ringing(.callee)) == ["a1 ringing"])
        #expect(rig.take(.ringing(.callee)) == [])
        #expect(rig.take(.joined(.callee, CallRig.plain, replacing: nil)) == ["b2 call"])
    }

    @Test func `everybody who was called is told that somebody answered, the one who did included`() {
        var rig = CallRig()
        _ = rig.take(.start)
        #expect(rig.take(.answer(.callee)) == ["a1 respondCallUpdate", "b1+b2 callCancel", "answered"])
        #expect(rig.take(.answer(.callee)) == ["refused alreadyAnswered"])
        #expect(rig.take(.end(.caller, nil)) == ["b1+b2 callEnd", "ended"])
    }

    @Test func `a device that left is told nothing any more`() {
        var rig = CallRig()
        _ = rig.take(.start)
        #expect(rig.take(.left(.callee, "b1", othersRemain: false)) == [])
        #expect(rig.take(.reject(.callee)) == ["a1 callEnd 603 Declined", "b2 callCancel", "ended"])
    }

    @Test func `a device that comes while it rings is called, and hears of the answer`() {
        var rig = CallRig()
        _ = rig.take(.start)
        #expect(rig.take(.joined(.callee, Device("b3"), replacing: nil)) == ["b3 call"])
        #expect(rig.take(.answer(.callee)) == ["a1 respondCallUpdate", "b1+b2+b3 callCancel", "answered"])
    }

    @Test func `a device that comes later was not told of the call and is told nothing`() {
        var rig = CallRig()
        _ = rig.take(.start)
        _ = rig.take(.answer(.callee))
        #expect(rig.take(.joined(.callee, Device("b3"), replacing: nil)) == [])
        #expect(rig.take(.joined(.caller, Device("a2"), replacing: nil)) == [])
        #expect(
            rig.take(.drain) == [
                "a1 callEnd 503 Gateway is shutting down", "b1+b2 callEnd 503 Gateway is shutting down", "ended",
            ])
    }

    @Test func `a device that subscribes again during the call stays in it`() {
        var rig = CallRig()
        _ = rig.take(.start)
        _ = rig.take(.answer(.callee))
        #expect(rig.take(.joined(.caller, Device("a2"), replacing: "a1")) == [])
        #expect(
            rig.take(.joined(.callee, Device("b3"), replacing: "b9")) == [],
            "what b9 never knew, b3 does not know either")
        #expect(
            rig.take(.end(.callee, nil)) == ["a2 callEnd", "b2 callEnd", "ended"],
            "b1 hangs up, and b2 may have the call")
    }

    @Test func `devices that name themselves have the call for themselves`() throws {
        var rig = CallRig()
        var random = SeededRandomSource(seed: 1)
        _ = try rig.start()
        let answered = try rig.call.answer(
            by: .callee, CallAnswerRequest(sdp: "answer"), from: "b2", at: rig.clock.now, random: &random)
        #expect(
            answered.traces == ["a1 respondCallUpdate", "b1 callCancel", "b2 callCancel", "answered"],
            "the others need not ring any more")
        #expect(try rig.offerUpdate("offer", by: .caller).traces == ["b2 startCallUpdate"])
        #expect(rig.take(.end(.caller, nil)) == ["b2 callEnd", "ended"])
    }

    @Test func `a caller's device that names itself is the only one told`() throws {
        let parties = PerLeg(
            caller: CallParty(user: CallRig.alice, name: "Alice", session: "A", devices: [Device("a1"), Device("a2")]),
            callee: CallParty(user: CallRig.bob, name: "Bob", session: "B", devices: [CallRig.plain]))
        for (named, told) in [("a2", "a2"), ("a9", "a1+a2"), (nil, "a1+a2")] as [(String?, String)] {
            var call = Call(id: CallID(7), parties: parties)
            var random = SeededRandomSource(seed: 1)
            var request = CallStartRequest(callee: CallRig.bob, sdp: "offer")
            request.device = named.map { SubscriptionID($0) }
            #expect(
                try call.start(request, media: .direct, at: VirtualClock().now, random: &random).traces == [
                    "b2 call", "\(told) ringing",
                ])
        }
    }

    @Test func `the call follows the device that offers`() throws {
        var rig = try MidCallRig()
        let wrong = CallUpdateRequest(sdp: "nonsense")
        let before = rig.call
        #expect(throws: CallError.self) {
            try rig.call.offer(by: .caller, wrong, from: Device("a2"), at: rig.clock.now, random: &rig.random)
        }
        #expect(rig.call == before)
        // A page that was loaded again, elsewhere: the answer goes there.
        let text = ScriptedDescription.audio("caller2", .sendReceive).replacing("AB:AB", with: "CD:CD")
        let moved = try rig.call.offer(
            by: .caller, CallUpdateRequest(sdp: text), from: Device("a2"), at: rig.clock.now, random: &rig.random)
        #expect(moved.traces.last == "a2 respondCallUpdate")
        #expect(try rig.call.end(by: .callee, reasonText: nil, at: rig.clock.now).traces.contains("a2 callEnd"))
    }

    @Test func `the call ends with the last device, even if that one was never told`() {
        var rig = CallRig()
        _ = rig.take(.start)
        _ = rig.take(.answer(.callee))
        #expect(rig.take(.left(.caller, "a1", othersRemain: true)) == [])
        #expect(rig.take(.left(.caller, "a2", othersRemain: false)) == ["b1+b2 callEnd 480 Not registered", "ended"])
    }
}
