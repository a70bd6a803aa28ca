import ICE
import Primitives
import TestSupport
import Testing

/// RFC 8445 §9.
@Suite struct RestartTests {
    private static let (a, b) = (AgentRig.a, AgentRig.b)

    private func restarted() -> AgentRig {
        var rig = AgentRig.checking()
        _ = rig.receive(.nominating, over: Self.a)
        let actions = rig.agent.restart(local: AgentRig.newLocal, remote: AgentRig.newRemote, at: rig.clock.now)
        #expect(actions == [.stateChanged(.restarting)])
        return rig
    }

    @Test func `the old path carries media until a new one is nominated`() {
        var rig = restarted()
        #expect(rig.agent.selectedPath == Self.a)
        #expect(rig.agent.localFragments == ["GATE", "gate"])
        #expect(TransitionTests.actions(in: rig.receive(.renewed(), over: Self.b)) == [.pathValidated(Self.b)])
        #expect(rig.agent.selectedPath == Self.a)
        #expect(
            TransitionTests.actions(in: rig.receive(.renewed(nominates: true), over: Self.b)) == [
                .selected(Self.b), .fragmentRetired("gate"), .stateChanged(.completed),
            ])
        #expect(rig.agent.localFragments == ["GATE"])
        // What is still under way on the old path is welcome.
        #expect(rig.agent.accepts(Self.a))
    }

    @Test func `the same path may be nominated again`() {
        var rig = restarted()
        #expect(
            TransitionTests.actions(in: rig.receive(.renewed(nominates: true), over: Self.a)) == [
                .fragmentRetired("gate"), .stateChanged(.completed),
            ])
    }

    @Test func `checks under the old parameters keep consent until the restart is complete, and no longer`() {
        var rig = restarted()
        for _ in 0..<8 {
            #expect(rig.advance(by: .seconds(5)) == [])
            #expect(rig.receive(.good, over: Self.a) == [.succeeded(Self.a)])
        }
        _ = rig.receive(.renewed(nominates: true), over: Self.a)
        #expect(
            rig.receive(.good, over: Self.a) == [
                .did(.refused(.wrongUsername)), .answered(401, Self.a, authenticated: false),
            ])
    }

    @Test func `a nomination under the old parameters moves media but completes nothing`() {
        var rig = restarted()
        #expect(
            TransitionTests.actions(in: rig.receive(.nominating, over: Self.b)) == [
                .pathValidated(Self.b), .selected(Self.b),
            ])
        #expect(rig.agent.state == .restarting)
    }

    @Test(arguments: [
        AgentRig.Check(username: "GATE:PEER", password: AgentRig.local.password.value),
        AgentRig.Check(username: "gate:peer", password: AgentRig.newLocal.password.value),
    ])
    func `old and new parameters do not mix`(_ check: AgentRig.Check) {
        var rig = restarted()
        #expect(rig.receive(check, over: Self.a).first == .did(.refused(.wrongIntegrity)))
    }

    @Test(arguments: [
        AgentRig.Check(username: "GATE:peer", password: AgentRig.newLocal.password.value),
        AgentRig.Check(username: "gate:PEER", password: AgentRig.local.password.value),
    ])
    func `old and new fragments do not mix`(_ check: AgentRig.Check) {
        var rig = restarted()
        #expect(rig.receive(check, over: Self.a).first == .did(.refused(.wrongUsername)))
    }

    @Test func `a restart that leads nowhere ends with the consent`() {
        var rig = restarted()
        #expect(
            rig.advance(by: .seconds(31)) == [
                .pathLost(after: .seconds(7)), .pathForgotten(Self.a), .fragmentRetired("gate"),
                .stateChanged(.failed(.consentExpired)),
            ])
    }

    @Test func `a second restart keeps the parameters of the live path`() {
        var rig = restarted()
        let third = ICEParameters(ufrag: "third", password: Redacted("third password of the gateway"))
        #expect(rig.agent.restart(local: third, remote: nil, at: rig.clock.now) == [.fragmentRetired("GATE")])
        #expect(rig.agent.localFragments == ["third", "gate"])
        #expect(rig.receive(.good, over: Self.a) == [.succeeded(Self.a)])
        #expect(rig.receive(.renewed(), over: Self.a).first == .did(.refused(.wrongUsername)))
    }

    @Test func `before any valid check a restart only replaces the parameters`() {
        var rig = AgentRig.checking()
        _ = rig.advance(by: .seconds(20))
        let actions = rig.agent.restart(local: AgentRig.newLocal, remote: AgentRig.newRemote, at: rig.clock.now)
        #expect(actions == [.fragmentRetired("gate")])
        #expect(rig.advance(by: .seconds(29)) == [])
        #expect(rig.receive(.renewed(), over: Self.a).first == .succeeded(Self.a))
    }

    @Test func `a failed session begins anew`() {
        var rig = AgentRig.checking()
        _ = rig.advance(by: .seconds(30))
        let actions = rig.agent.restart(local: AgentRig.newLocal, remote: nil, at: rig.clock.now)
        #expect(actions == [.fragmentRetired("gate"), .stateChanged(.waiting)])
        #expect(rig.agent.setRemote(AgentRig.newRemote, at: rig.clock.now) == [.stateChanged(.checking)])
        #expect(rig.receive(.renewed(nominates: true), over: Self.a).last == .did(.stateChanged(.completed)))
    }

    @Test func `the answer to our own restart drops no path, whenever it comes`() {
        for nominatesFirst in [false, true] {
            var rig = AgentRig.checking()
            _ = rig.receive(.nominating, over: Self.a)
            _ = rig.agent.restart(local: AgentRig.newLocal, remote: nil, at: rig.clock.now)
            if nominatesFirst { _ = rig.receive(.renewed(nominates: true), over: Self.b) }
            #expect(rig.agent.setRemote(AgentRig.newRemote, at: rig.clock.now) == [])
            #expect(rig.agent.accepts(Self.a))
            #expect(rig.agent.selectedPath == (nominatesFirst ? Self.b : Self.a))
        }
    }

    @Test func `the same fragment again is no restart`() {
        var rig = AgentRig.checking()
        _ = rig.receive(.nominating, over: Self.a)
        #expect(rig.agent.restart(local: AgentRig.local, remote: AgentRig.newRemote, at: rig.clock.now) == [])
        #expect(rig.agent.state == .completed)
        #expect(rig.agent.remote == AgentRig.remote)
    }

    @Test func `a path that is lost during a restart is found under either parameters`() {
        for check in [AgentRig.Check.good, .renewed()] {
            var rig = restarted()
            #expect(rig.advance(by: .seconds(8)) == [.pathLost(after: .seconds(7))])
            #expect(
                TransitionTests.actions(in: rig.receive(check, over: Self.b)) == [
                    .pathValidated(Self.b), .pathRecovered, .selected(Self.b),
                ])
            #expect(rig.agent.state == .restarting)
        }
    }
}
