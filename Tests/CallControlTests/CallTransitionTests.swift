import CallControl
import CallSupport
import Primitives
import TestSupport
import Testing

/// Every input in every state (docs/call-states.md), with exactly what follows.
struct CallTransitionTests {
    struct Row: CustomTestStringConvertible, Sendable {
        var before: [CallStep]
        var step: CallStep
        var actions: [String]
        var caller: LegState
        var callee: LegState

        init(_ before: [CallStep], _ step: CallStep, _ actions: [String], _ caller: LegState, _ callee: LegState) {
            self.before = before
            self.step = step
            self.actions = actions
            self.caller = caller
            self.callee = callee
        }

        var testDescription: String { "\(before) then \(step)" }
    }

    /// Only b1 is there, which reports by itself that it rings.
    private static let dialing: [CallStep] = [.start]
    private static let ringing: [CallStep] = [.start, .ringing(.callee)]
    private static let inCall: [CallStep] = [.start, .answer(.callee)]
    private static let ended: [CallStep] = [.start, .reject(.callee)]

    static let fromInitial = [
        Row([], .start, ["b1 call"], .dialing, .ringing),
        Row([], .unreachable(.noSuchUser), [], .dialing, .ended),
        Row([], .ringing(.callee), ["refused noSuchCall"], .initial, .initial),
        Row([], .answer(.callee), ["refused noSuchCall"], .initial, .initial),
        Row([], .reject(.callee), ["refused noSuchCall"], .initial, .initial),
        Row([], .end(.caller, nil), ["refused noSuchCall"], .initial, .initial),
        Row([], .audit, ["refused noSuchCall"], .initial, .initial),
        Row([], .mediaFailed(.caller), [], .initial, .initial),
        Row([], .left(.caller, "a1", othersRemain: false), [], .initial, .initial),
        Row([], .drain, [], .initial, .initial),
        Row([], .endedByOperator(nil), [], .initial, .initial),
        Row([], .wait(.seconds(600)), [], .initial, .initial),
    ]

    /// There is nobody to ring, and the caller is about to learn it.
    private static let vain: [CallStep] = [.unreachable(.notRegistered)]

    static let fromUnreachable = [
        Row(vain, .audit, [], .dialing, .ended),
        Row(vain, .wait(.milliseconds(249)), [], .dialing, .ended),
        Row(vain, .wait(.milliseconds(250)), ["a1 callEnd 480 Not registered", "ended"], .ended, .ended),
        Row(
            [.unreachable(.noSuchUser)], .wait(.milliseconds(250)), ["a1 callEnd 404 User not found", "ended"], .ended,
            .ended),
        Row([.unreachable(.busy)], .wait(.milliseconds(250)), ["a1 callEnd 486 User busy", "ended"], .ended, .ended),
        Row(vain, .end(.caller, nil), ["a1 callEnd 487 Caller hung up", "ended"], .ended, .ended),
        Row(vain, .drain, ["a1 callEnd 503 Gateway is shutting down", "ended"], .ended, .ended),
        Row(vain, .left(.caller, "a1", othersRemain: false), ["ended"], .ended, .ended),
        // It is no call of theirs.
        Row(vain, .ringing(.callee), ["refused noSuchCall"], .dialing, .ended),
        Row(vain, .answer(.callee), ["refused noSuchCall"], .dialing, .ended),
        Row(vain, .reject(.callee), ["refused noSuchCall"], .dialing, .ended),
        Row(vain, .end(.callee, nil), ["refused noSuchCall"], .dialing, .ended),
        Row(vain, .joined(.callee, CallRig.plain, replacing: nil), [], .dialing, .ended),
        Row(vain, .left(.callee, "b1", othersRemain: false), [], .dialing, .ended),
    ]

    static let fromUnanswered = [
        Row(dialing, .ringing(.callee), ["a1 ringing"], .ringing, .ringing),
        Row(dialing, .ringing(.caller), ["refused ring while DIALING"], .dialing, .ringing),
        Row(ringing, .ringing(.callee), [], .ringing, .ringing),
        Row(ringing, .ringing(.caller), ["refused ring while RINGING"], .ringing, .ringing),
        Row(dialing, .answer(.callee), ["a1 respondCallUpdate", "b1 callCancel", "answered"], .inCall, .inCall),
        Row(ringing, .answer(.callee), ["a1 respondCallUpdate", "b1 callCancel", "answered"], .inCall, .inCall),
        Row(dialing, .answer(.caller), ["refused answer while DIALING"], .dialing, .ringing),
        Row(ringing, .answer(.caller), ["refused answer while RINGING"], .ringing, .ringing),
        Row(ringing, .reject(.callee), ["a1 callEnd 603 Declined", "b1 callCancel", "ended"], .ended, .ended),
        Row(ringing, .reject(.caller), ["refused reject while RINGING"], .ringing, .ringing),
        Row(
            dialing, .end(.caller, nil), ["a1 callEnd 487 Caller hung up", "b1 callEnd 487 Caller hung up", "ended"],
            .ended, .ended),
        Row(ringing, .end(.caller, "busy"), ["a1 callEnd 487 busy", "b1 callEnd 487 busy", "ended"], .ended, .ended),
        Row(ringing, .end(.callee, nil), ["a1 callEnd 603 Declined", "b1 callCancel", "ended"], .ended, .ended),
        Row(ringing, .end(.callee, "driving"), ["a1 callEnd 603 driving", "b1 callCancel", "ended"], .ended, .ended),
        Row(dialing, .audit, [], .dialing, .ringing),
        Row(ringing, .audit, [], .ringing, .ringing),
        Row(ringing, .mediaFailed(.callee), [], .ringing, .ringing),
        Row(ringing, .media(.callee, .checked), [], .ringing, .ringing),
        Row(ringing, .wait(.seconds(59)), [], .ringing, .ringing),
        Row(
            ringing, .wait(.seconds(60)), ["a1 callEnd 487 No answer", "b1 callEnd 487 No answer", "ended"], .ended,
            .ended),
        Row(
            ringing, .drain,
            ["a1 callEnd 503 Gateway is shutting down", "b1 callEnd 503 Gateway is shutting down", "ended"], .ended,
            .ended),
        Row(
            dialing, .endedByOperator("maintenance"),
            ["a1 callEnd 503 maintenance", "b1 callEnd 503 maintenance", "ended"], .ended, .ended),
        Row(dialing, .joined(.callee, CallRig.plain, replacing: nil), ["b2 call", "a1 ringing"], .ringing, .ringing),
        Row(ringing, .joined(.callee, CallRig.plain, replacing: nil), ["b2 call"], .ringing, .ringing),
        Row(
            dialing, .joined(.callee, Device("b3", sendsRingingFeedback: true), replacing: "b1"), ["b3 call"], .dialing,
            .ringing),
        Row(dialing, .joined(.caller, Device("a2"), replacing: nil), [], .dialing, .ringing),
        Row(
            dialing, .left(.callee, "b1", othersRemain: false), ["a1 callEnd 480 Not registered", "ended"], .ended,
            .ended),
        Row(dialing, .left(.callee, "b9", othersRemain: false), [], .dialing, .ringing),
        Row(
            dialing, .left(.caller, "a1", othersRemain: false), ["b1 callEnd 487 Caller is gone", "ended"], .ended,
            .ended),
        Row(
            dialing, .left(.caller, "a1", othersRemain: true), ["b1 callEnd 487 Caller is gone", "ended"], .ended,
            .ended),
    ]

    static let fromAnswered = [
        Row(inCall, .ringing(.callee), ["refused ring while IN_CALL"], .inCall, .inCall),
        Row(inCall, .answer(.callee), ["refused alreadyAnswered"], .inCall, .inCall),
        Row(inCall, .answer(.caller), ["refused answer while IN_CALL"], .inCall, .inCall),
        Row(inCall, .reject(.callee), ["refused alreadyAnswered"], .inCall, .inCall),
        Row(inCall, .reject(.caller), ["refused reject while IN_CALL"], .inCall, .inCall),
        Row(inCall, .end(.caller, nil), ["b1 callEnd", "ended"], .ended, .ended),
        Row(inCall, .end(.callee, "bye"), ["a1 callEnd bye", "ended"], .ended, .ended),
        Row(inCall, .end(.callee, ""), ["a1 callEnd", "ended"], .ended, .ended),
        Row(inCall, .audit, [], .inCall, .inCall),
        Row(
            inCall, .mediaFailed(.callee),
            ["a1 callEnd 408 media path lost", "b1 callEnd 408 media path lost", "ended"], .ended, .ended),
        Row(inCall, .media(.caller, .flowing), [], .inCall, .inCall),
        Row(inCall, .wait(.seconds(100_000)), [], .inCall, .inCall),
        Row(
            inCall, .drain,
            ["a1 callEnd 503 Gateway is shutting down", "b1 callEnd 503 Gateway is shutting down", "ended"], .ended,
            .ended),
        Row(inCall, .joined(.callee, CallRig.plain, replacing: nil), [], .inCall, .inCall),
        Row(
            inCall, .left(.callee, "b1", othersRemain: false), ["a1 callEnd 480 Not registered", "ended"], .ended,
            .ended),
        Row(
            inCall, .left(.caller, "a1", othersRemain: false), ["b1 callEnd 480 Not registered", "ended"], .ended,
            .ended),
        Row(inCall, .left(.caller, "a1", othersRemain: true), [], .inCall, .inCall),
    ]

    static let fromEnded = [
        Row(ended, .ringing(.callee), ["refused noSuchCall"], .ended, .ended),
        Row(ended, .answer(.callee), ["refused noSuchCall"], .ended, .ended),
        Row(ended, .reject(.callee), ["refused noSuchCall"], .ended, .ended),
        Row(ended, .end(.caller, nil), ["refused noSuchCall"], .ended, .ended),
        Row(ended, .audit, ["refused noSuchCall"], .ended, .ended),
        Row(ended, .joined(.callee, CallRig.plain, replacing: nil), [], .ended, .ended),
        Row(ended, .left(.callee, "b1", othersRemain: false), [], .ended, .ended),
        Row(ended, .media(.caller, .flowing), [], .ended, .ended),
        Row(ended, .mediaFailed(.caller), [], .ended, .ended),
        Row(ended, .drain, [], .ended, .ended),
        Row(ended, .wait(.seconds(600)), [], .ended, .ended),
    ]

    @Test(arguments: fromInitial + fromUnreachable + fromUnanswered + fromAnswered + fromEnded)
    func `an input leads to exactly these actions and states`(_ row: Row) {
        var rig = CallRig(callee: [CallRig.silent])
        for step in row.before { _ = rig.take(step) }
        let before = rig.call
        let actions = rig.take(row.step)
        #expect(actions == row.actions)
        #expect(rig.call.legState(.caller) == row.caller)
        #expect(rig.call.legState(.callee) == row.callee)
        if actions.first?.hasPrefix("refused") == true {
            #expect(rig.call == before, "a refused input changes nothing")
        }
        if row.caller == .ended { #expect(rig.call.nextDeadline == nil) }
    }

    @Test func `the state query tells ringing from answered`() throws {
        var rig = CallRig()
        #expect(throws: CallError.noSuchCall) { try rig.call.progress(for: .caller) }
        _ = try rig.start()
        #expect(try rig.call.progress(for: .caller) == .ringing)
        _ = try rig.answer()
        #expect(try rig.call.progress(for: .caller) == .answered)
        _ = rig.take(.drain)
        #expect(throws: CallError.noSuchCall) { try rig.call.progress(for: .caller) }
    }

    @Test func `the record says how long everything took`() throws {
        var rig = CallRig()
        _ = try rig.start()
        _ = rig.take(.wait(.seconds(4)))
        let established = CallEvent(nil, .established(.init(setup: .seconds(4))))
        #expect(try rig.answer().last == .event(established))
        _ = rig.take(.wait(.seconds(30)))
        let actions = try rig.perform(.end(.caller, nil))
        #expect(
            actions.last
                == .event(
                    CallEvent(
                        nil,
                        .ended(
                            CallRecord(
                                cause: .completed(by: .caller, reasonText: nil), setup: .seconds(4), talk: .seconds(30)),
                            by: .caller, device: "a1"))))
    }
}
