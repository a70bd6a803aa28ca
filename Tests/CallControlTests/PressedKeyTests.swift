import CallControl
import Primitives
import TestSupport
import Testing

/// Keys that are pressed in calls in which no application hears them.
struct PressedKeyTests {
    /// As the call tells it.
    private static func pressed(by leg: LegID) -> CallEvent {
        CallEvent(leg, .keyPressed(key: .five, milliseconds: 100, of: leg))
    }

    private static func talking(_ configuration: Call.Configuration = .init()) throws -> (CallRig, CallHistory) {
        var rig = CallRig(configuration)
        var history = CallHistory(origin: Moment(rig.clock.now, epochMilliseconds: 0))
        for step in [CallStep.start, .ringing(.callee), .answer(.callee)] {
            _ = history.record(try rig.perform(step), at: rig.clock.now)
        }
        return (rig, history)
    }

    @Test func `a key is one fact about the leg of the presser, of which no device is told`() throws {
        var (rig, _) = try Self.talking()
        for leg in [LegID.caller, .callee] {
            #expect(rig.call.keyPressed(.five, milliseconds: 100, by: leg) == [.event(Self.pressed(by: leg))])
        }
        #expect(rig.call.keyPressed(.one, milliseconds: 1, by: LegID(9)).isEmpty)
        _ = try rig.perform(.end(.caller, nil))
        #expect(rig.call.keyPressed(.one, milliseconds: 1, by: .caller).isEmpty)
    }

    @Test func `a key is no fact where the configuration says so`() throws {
        var configuration = Call.Configuration()
        configuration.tellsKeys = false
        let (rig, _) = try Self.talking(configuration)
        #expect(rig.call.keyPressed(.five, milliseconds: 100, by: .caller).isEmpty)
    }

    @Test func `a key is for both who talk, whoever of them presses it`() throws {
        let (_, history) = try Self.talking()
        for leg in [LegID.caller, .callee] {
            let holders = history.holders(seeing: Self.pressed(by: leg))
            #expect(holders == [.user(CallRig.alice), .user(CallRig.bob)])
        }
    }

    @Test func `a key is not for whoever has left, or rings only`() throws {
        var (rig, history) = try Self.talking()
        let event = Self.pressed(by: .callee)
        let third = LegID(2)
        var carol = try #require(try Self.participant())
        carol.user = try #require(UserAddress(parsing: "carol@example.com"))
        carol.arrival = .called
        _ = history.record(CallEvent(third, .joined(carol)), at: rig.clock.now)
        #expect(history.holders(seeing: event) == [.user(CallRig.alice), .user(CallRig.bob)], "she does not talk yet")
        rig.clock.advance(by: .seconds(1))
        _ = history.record(CallEvent(third, .talks(device: nil)), at: rig.clock.now)
        _ = history.record(CallEvent(.caller, .completed(.transfer)), at: rig.clock.now)
        #expect(history.holders(seeing: event) == [.user(CallRig.bob), .user(carol.user)], "Alice has left")
    }

    /// One that has joined a call.
    private static func participant() throws -> CallEvent.Participant? {
        var rig = CallRig()
        for case .event(let event) in try rig.start() {
            if case .joined(let party) = event.fact { return party }
        }
        return nil
    }
}
