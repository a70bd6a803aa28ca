import CallControl
import CallSupport
import Primitives
import SDP
import SPiDR
import TestSupport
import Testing

/// What is in the notifications of a call (spidr-wire §5, §6, §8.4).
struct CallNotificationTests {
    private static let toCaller = Notification.Parties(
        callerName: "Alice", callerDisplayNumber: "alice@example.com", calleeDisplayNumber: "bob@example.com",
        remoteName: "Bob",
        remoteDisplayNumber: "bob@example.com")
    private static let toCallee = Notification.Parties(
        callerName: "Alice", callerDisplayNumber: "alice@example.com", calleeDisplayNumber: "bob@example.com",
        remoteName: "Alice",
        remoteDisplayNumber: "alice@example.com")
    private let parameters = [CustomParameter(name: "X-GPS", value: "1,2")]

    @Test func `call carries the offer, what may be done with it, and the caller's parameters`() throws {
        var rig = CallRig(callee: [CallRig.silent])
        let actions = try rig.start("v=0", parameters: parameters)
        let expected = Notification(
            .call, session: "B", sdp: "v=0", actions: [.answer, .reject, .forward], parties: Self.toCallee,
            customParameters: parameters)
        #expect(actions.told == [Told(leg: .callee, receivers: ["b1"], notification: expected)])
    }

    @Test func `the answer reaches the caller with the callee's parameters`() throws {
        var rig = CallRig()
        _ = try rig.start()
        let actions = try rig.answer("v=1", parameters: parameters)
        let update = Notification(
            .respondCallUpdate, session: "A", sdp: "v=1", parties: Self.toCaller, customParameters: parameters)
        var cancelled = Notification(.callCancel, session: "B", parties: Self.toCallee)
        cancelled.cause = "answered_elsewhere"
        cancelled.endedBy = .own
        #expect(
            actions.told == [
                Told(leg: .caller, receivers: ["a1"], notification: update),
                Told(leg: .callee, receivers: ["b1", "b2"], notification: cancelled),
            ])
    }

    @Test func `every notification names its leg and all five parties`() throws {
        for last in [
            CallStep.reject(.callee), .end(.caller, "x"), .drain, .wait(.seconds(60)),
            .left(.callee, "b2", othersRemain: false),
        ] {
            var rig = CallRig(callee: [CallRig.plain])
            for told in try (rig.start() + rig.perform(last)).told {
                #expect(told.notification.session == (told.leg == .caller ? "A" : "B"))
                #expect(told.notification.parties == (told.leg == .caller ? Self.toCaller : Self.toCallee))
            }
        }
    }

    @Test func `texts of clients are cut`() throws {
        var rig = CallRig(.init(maximumTextLength: 4))
        _ = try rig.start()
        _ = try rig.answer()
        #expect(rig.call[.caller]?.party.name == "Alic")
        #expect(rig.take(.end(.caller, "too long a reason")) == ["b1+b2 callEnd too ", "ended"])
    }

    @Test func `an answer without a description is refused`() throws {
        var rig = CallRig()
        _ = try rig.start()
        let before = rig.call
        #expect(throws: CallError.self) { try rig.answer("") }
        #expect(rig.call == before)
    }
}
