import CallControl
import Primitives
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
    func `the caller hears of ringing at once if a device does not report it by itself`(_ devices: [Device], _ actions: [String]) {
        var rig = CallRig(callee: devices)
        #expect(rig.take(.start) == actions)
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
        #expect(rig.take(.drain) == ["a1 callEnd 503 Gateway is shutting down", "b1+b2 callEnd 503 Gateway is shutting down", "ended"])
    }

    @Test func `a device that subscribes again during the call stays in it`() {
        var rig = CallRig()
        _ = rig.take(.start)
        _ = rig.take(.answer(.callee))
        #expect(rig.take(.joined(.caller, Device("a2"), replacing: "a1")) == [])
        #expect(rig.take(.joined(.callee, Device("b3"), replacing: "b9")) == [], "what b9 never knew, b3 does not know either")
        #expect(rig.take(.end(.callee, nil)) == ["a2 callEnd", "ended"])
    }

    @Test func `the call ends with the last device, even if that one was never told`() {
        var rig = CallRig()
        _ = rig.take(.start)
        _ = rig.take(.answer(.callee))
        #expect(rig.take(.left(.caller, "a1", othersRemain: true)) == [])
        #expect(rig.take(.left(.caller, "a2", othersRemain: false)) == ["b1+b2 callEnd 480 Not registered", "ended"])
    }
}
