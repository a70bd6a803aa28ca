import ICE
import Primitives
import TestSupport
import Testing

/// Paths over TCP, which end when their connection does (RFC 6544 §11.1).
@Suite struct ClosedPathTests {
    private static let udp = AgentRig.a
    private static let one = tcp(0)
    private static let other = tcp(1)

    private static func tcp(_ generation: UInt32) -> Path {
        Path(local: SocketIndex(0), remote: udp.remote, transport: .tcp(ConnectionID(place: 0, generation: generation)))
    }

    @Test func `a connection is a path of its own`() {
        var rig = AgentRig.checking()
        #expect(rig.receive(.good, over: Self.one).first == .succeeded(Self.one))
        #expect(rig.agent.accepts(Self.one))
        #expect(!rig.agent.accepts(Self.udp) && !rig.agent.accepts(Self.other))
    }

    @Test func `when the selected connection closes another path takes over`() {
        var rig = AgentRig.checking()
        _ = rig.receive(.nominating, over: Self.one)
        _ = rig.receive(.good, over: Self.udp)
        #expect(
            rig.agent.pathClosed(Self.one, at: rig.clock.now) == [
                .pathForgotten(Self.one), .selected(Self.udp), .stateChanged(.connected),
            ])
        #expect(rig.agent.pathClosed(Self.one, at: rig.clock.now) == [])
    }

    @Test func `when another connection closes nothing changes`() {
        var rig = AgentRig.checking()
        _ = rig.receive(.nominating, over: Self.udp)
        _ = rig.receive(.good, over: Self.one)
        #expect(rig.agent.pathClosed(Self.one, at: rig.clock.now) == [.pathForgotten(Self.one)])
        #expect(rig.agent.state == .completed)
    }

    @Test func `when the last one closes the peer may come back until its consent ends`() {
        var rig = AgentRig.checking()
        _ = rig.receive(.nominating, over: Self.one)
        _ = rig.advance(by: .seconds(2))
        #expect(
            rig.agent.pathClosed(Self.one, at: rig.clock.now) == [
                .pathForgotten(Self.one), .stateChanged(.disconnected), .pathLost(after: .seconds(2)),
            ])
        #expect(rig.agent.selectedPath == nil)
        _ = rig.advance(by: .seconds(27))
        #expect(
            TransitionTests.actions(in: rig.receive(.nominating, over: Self.other)) == [
                .pathValidated(Self.other), .pathRecovered, .selected(Self.other), .stateChanged(.completed),
            ])
    }

    @Test func `a peer that does not come back has ended`() {
        var rig = AgentRig.checking()
        _ = rig.receive(.nominating, over: Self.one)
        _ = rig.advance(by: .seconds(2))
        _ = rig.agent.pathClosed(Self.one, at: rig.clock.now)
        #expect(rig.agent.nextDeadline == Deadline(rig.clock.now + .seconds(28), .consent))
        #expect(rig.advance(by: .seconds(28)) == [.stateChanged(.failed(.consentExpired))])
    }

    @Test func `a restart without a path goes on when the peer comes back`() {
        var rig = AgentRig.checking()
        _ = rig.receive(.nominating, over: Self.one)
        _ = rig.agent.pathClosed(Self.one, at: rig.clock.now)
        #expect(rig.agent.restart(local: AgentRig.newLocal, remote: AgentRig.newRemote, at: rig.clock.now) == [])
        #expect(rig.agent.localFragments == ["GATE", "gate"])
        #expect(
            TransitionTests.actions(in: rig.receive(.renewed(), over: Self.other)) == [
                .pathValidated(Self.other), .pathRecovered, .selected(Self.other), .stateChanged(.restarting),
            ])
        #expect(
            TransitionTests.actions(in: rig.receive(.renewed(nominates: true), over: Self.other)) == [
                .fragmentRetired("gate"), .stateChanged(.completed),
            ])
    }
}
