import ICE
import Primitives
import TestSupport
import Testing

/// RFC 8838, as far as it concerns an agent that checks nothing.
@Suite struct TrickleTests {
    private static let line = "candidate:1 1 udp 2130706431 192.0.2.9 5000 typ host"

    private func trickle(_ line: String, to rig: inout AgentRig) throws -> TrickleVerdict {
        rig.agent.trickled(try TrickledCandidate(parsing: line))
    }

    @Test(arguments: ["", "end-of-candidates", "a=end-of-candidates"])
    func `the end has three spellings`(_ line: String) throws {
        #expect(try TrickledCandidate(parsing: line) == .endOfCandidates)
    }

    @Test(arguments: [line, "a=" + line, line + " ufrag peer generation 0"])
    func `a candidate is noted and changes nothing`(_ line: String) throws {
        var rig = AgentRig.checking()
        #expect(try trickle(line, to: &rig) == .noted)
        #expect(rig.agent.state == .checking && rig.agent.validatedPaths.isEmpty)
    }

    @Test func `one from before a restart is stale`() throws {
        var rig = AgentRig.checking()
        _ = rig.receive(.nominating, over: AgentRig.a)
        _ = rig.agent.restart(local: AgentRig.newLocal, remote: AgentRig.newRemote, at: rig.clock.now)
        #expect(try trickle(Self.line + " ufrag peer", to: &rig) == .stale(ufrag: "peer"))
        #expect(try trickle(Self.line + " ufrag PEER", to: &rig) == .noted)
    }

    @Test func `text that is no candidate is refused`() {
        #expect(throws: CandidateError.malformedPort) {
            try TrickledCandidate(parsing: "candidate:1 1 udp 1 192.0.2.9 65536 typ host")
        }
    }

    @Test func `there is a limit, which a restart renews`() throws {
        var rig = AgentRig.checking()
        for _ in 0..<ICELiteAgent.maximumTrickledCount { #expect(try trickle(Self.line, to: &rig) == .noted) }
        #expect(try trickle(Self.line, to: &rig) == .limitReached)
        _ = rig.agent.restart(local: AgentRig.newLocal, remote: AgentRig.newRemote, at: rig.clock.now)
        #expect(try trickle(Self.line, to: &rig) == .noted)
    }
}
