import CallControl
import CallSupport
import Primitives
import SPiDR
import TestSupport
import Testing

/// Calls that last longer than the gateway lets them (`calls.max_duration`).
struct DurationTests {
    @Test func `a call ends when it has lasted long enough, for both users`() throws {
        var configuration = Call.Configuration()
        (configuration.maximumDuration, configuration.clientTimeout) = (.seconds(20), nil)
        var rig = CallRig(configuration)
        _ = try rig.start()
        rig.clock.advance(by: .seconds(5))
        _ = try rig.answer(from: "b2")
        rig.clock.advance(by: .milliseconds(19_999))
        #expect(rig.call.nextDeadline == Deadline(rig.clock.now + .milliseconds(1), .duration))
        rig.clock.advance(by: .milliseconds(1))
        let actions = rig.call.timeout(at: rig.clock.now)
        let ends = actions.told.filter { $0.notification.type == .callEnd }
        #expect(ends.map(\.receivers) == [["a1"], ["b2"]])
        #expect(ends.allSatisfy { $0.notification.reasonText == "Call reached its longest duration" })
        guard case .ended(let record) = rig.call.state else {
            Issue.record("the call goes on")
            return
        }
        #expect(record == CallRecord(cause: .tooLong, setup: .seconds(5), talk: .seconds(20)))
    }

    @Test func `without the setting a call has no end`() throws {
        var configuration = Call.Configuration()
        configuration.clientTimeout = nil
        var rig = CallRig(configuration)
        _ = try rig.start()
        _ = try rig.answer(from: "b2")
        #expect(rig.call.nextDeadline?.reason != .duration)
    }
}
