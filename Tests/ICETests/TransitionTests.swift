import ICE
import Primitives
import TestSupport
import Testing

/// Steps, and exactly what comes of them.
@Suite struct TransitionTests {
    private static let (a, b, c) = (AgentRig.a, AgentRig.b, AgentRig.c)

    enum Step: Sendable {
        case check(Path)
        case nominate(Path)
        /// A packet that the peer's keys protect.
        case hear(Path)
        case wait(Duration)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var steps: [Step]
        /// Without the responses, which ConnectivityCheckTests looks at.
        var actions: [ICEAction]
        var state: ICEState
        var selected: Path?

        init(_ description: String, _ steps: [Step], _ actions: [ICEAction], _ state: ICEState, _ selected: Path?) {
            (testDescription, self.steps, self.actions, self.state, self.selected) = (
                description, steps, actions, state, selected
            )
        }
    }

    @Test(arguments: [
        Row("nothing yet", [.wait(.seconds(29))], [], .checking, nil),
        Row(
            "nobody comes", [.wait(.seconds(30))], [.stateChanged(.failed(.neverConnected))], .failed(.neverConnected),
            nil),
        Row(
            "the first valid path is used before nomination",
            [.check(a), .check(b)],
            [.pathValidated(a), .selected(a), .stateChanged(.connected), .pathValidated(b)], .connected, a
        ),
        Row(
            "nominated at once",
            [.nominate(a)], [.pathValidated(a), .selected(a), .stateChanged(.completed)], .completed, a
        ),
        Row(
            "nominated after the first check: the path stays, the state changes",
            [.check(a), .nominate(a), .nominate(a)],
            [.pathValidated(a), .selected(a), .stateChanged(.connected), .stateChanged(.completed)], .completed, a
        ),
        Row(
            "another path than the provisional one is nominated",
            [.check(a), .check(b), .nominate(b)],
            [
                .pathValidated(a), .selected(a), .stateChanged(.connected), .pathValidated(b), .selected(b),
                .stateChanged(.completed),
            ], .completed, b
        ),
        Row(
            "a peer-reflexive path is nominated without a check before",
            [.nominate(a), .nominate(c)],
            [.pathValidated(a), .selected(a), .stateChanged(.completed), .pathValidated(c), .selected(c)], .completed, c
        ),
        Row(
            "several are nominated: the last one counts",
            [.nominate(a), .nominate(b), .nominate(c), .nominate(a)],
            [
                .pathValidated(a), .selected(a), .stateChanged(.completed), .pathValidated(b), .selected(b),
                .pathValidated(c), .selected(c),
                .selected(a),
            ], .completed, a
        ),
        Row(
            "a check without nomination does not move the selection back",
            [.nominate(a), .nominate(b), .check(a)],
            [.pathValidated(a), .selected(a), .stateChanged(.completed), .pathValidated(b), .selected(b)], .completed, b
        ),
        Row(
            "consent holds while checks come",
            [.nominate(a), .wait(.seconds(6)), .check(a), .wait(.seconds(6)), .check(a), .wait(.seconds(6))],
            [.pathValidated(a), .selected(a), .stateChanged(.completed)], .completed, a
        ),
        Row(
            "the path is lost, and comes back with the next check",
            [.nominate(a), .wait(.seconds(29)), .check(a), .wait(.seconds(29))],
            [
                .pathValidated(a), .selected(a), .stateChanged(.completed), .pathLost(after: .seconds(7)),
                .pathRecovered,
                .pathLost(after: .seconds(7)),
            ], .completed, a
        ),
        Row(
            "the peer comes back from another address",
            [.nominate(a), .wait(.seconds(10)), .check(b)],
            [
                .pathValidated(a), .selected(a), .stateChanged(.completed), .pathLost(after: .seconds(7)),
                .pathValidated(b), .pathRecovered,
                .selected(b), .stateChanged(.connected),
            ], .connected, b
        ),
        Row(
            "the peer moves to another address and nominates it",
            [.nominate(a), .wait(.seconds(3)), .check(b), .nominate(b), .wait(.seconds(3)), .check(b)],
            [.pathValidated(a), .selected(a), .stateChanged(.completed), .pathValidated(b), .selected(b)], .completed, b
        ),
        Row(
            "consent holds while protected packets come, and no path is lost",
            [.nominate(a)] + Array(repeating: [Step.wait(.seconds(6)), .hear(a)], count: 10).joined(),
            [.pathValidated(a), .selected(a), .stateChanged(.completed)], .completed, a
        ),
        Row(
            "after the last packet the path is lost, and consent ends, as after a check",
            [.nominate(a), .wait(.seconds(6)), .hear(a), .wait(.seconds(30))],
            [
                .pathValidated(a), .selected(a), .stateChanged(.completed), .pathLost(after: .seconds(7)),
                .pathForgotten(a),
                .stateChanged(.failed(.consentExpired)),
            ],
            .failed(.consentExpired), nil
        ),
        Row(
            "a packet brings a lost path back, as a check does",
            [.nominate(a), .wait(.seconds(10)), .hear(a), .wait(.seconds(6))],
            [
                .pathValidated(a), .selected(a), .stateChanged(.completed), .pathLost(after: .seconds(7)),
                .pathRecovered,
            ], .completed, a
        ),
        Row(
            "packets over a path that nobody has checked say nothing",
            [.nominate(a), .wait(.seconds(6)), .hear(b), .wait(.seconds(2))],
            [.pathValidated(a), .selected(a), .stateChanged(.completed), .pathLost(after: .seconds(7))], .completed, a
        ),
        Row(
            "the path that packets come over takes over from one that is silent",
            [.check(b), .nominate(a)] + Array(repeating: [Step.wait(.seconds(3)), .hear(b)], count: 3).joined(),
            [
                .pathValidated(b), .selected(b), .stateChanged(.connected), .pathValidated(a), .selected(a),
                .stateChanged(.completed),
                .selected(b), .stateChanged(.connected),
            ], .connected, b
        ),
        Row(
            "the path that is heard first after silence takes over, whatever was nominated",
            [.check(b), .nominate(a), .wait(.seconds(10)), .hear(b)],
            [
                .pathValidated(b), .selected(b), .stateChanged(.connected), .pathValidated(a), .selected(a),
                .stateChanged(.completed),
                .pathLost(after: .seconds(7)), .pathRecovered, .selected(b), .stateChanged(.connected),
            ], .connected, b
        ),
        Row(
            "a failed session hears nothing",
            [.nominate(a), .wait(.seconds(30)), .hear(a)],
            [
                .pathValidated(a), .selected(a), .stateChanged(.completed), .pathLost(after: .seconds(7)),
                .pathForgotten(a),
                .stateChanged(.failed(.consentExpired)),
            ],
            .failed(.consentExpired), nil
        ),
        Row(
            "consent ends",
            [.nominate(a), .wait(.seconds(30))],
            [
                .pathValidated(a), .selected(a), .stateChanged(.completed), .pathLost(after: .seconds(7)),
                .pathForgotten(a),
                .stateChanged(.failed(.consentExpired)),
            ],
            .failed(.consentExpired), nil
        ),
        Row(
            "a silent path is forgotten, the session goes on",
            [.nominate(a), .check(b)] + Array(repeating: [Step.wait(.seconds(6)), .check(a)], count: 6).joined(),
            [.pathValidated(a), .selected(a), .stateChanged(.completed), .pathValidated(b), .pathForgotten(b)],
            .completed, a
        ),
        Row(
            "the selected path falls silent: the one checked since takes over, not nominated",
            [
                .nominate(a), .check(b), .wait(.seconds(4)), .check(b), .wait(.seconds(4)), .check(b),
                .wait(.seconds(4)), .nominate(a),
            ],
            [
                .pathValidated(a), .selected(a), .stateChanged(.completed), .pathValidated(b), .selected(b),
                .stateChanged(.connected),
                .selected(a), .stateChanged(.completed),
            ], .completed, a
        ),
        Row(
            "all paths fall silent at once",
            [.nominate(a), .check(b), .wait(.seconds(60))],
            [
                .pathValidated(a), .selected(a), .stateChanged(.completed), .pathValidated(b),
                .pathLost(after: .seconds(7)),
                .pathForgotten(a), .pathForgotten(b), .stateChanged(.failed(.consentExpired)),
            ], .failed(.consentExpired), nil
        ),
        Row(
            "a failed session answers nothing",
            [.wait(.seconds(30)), .nominate(a)],
            [.stateChanged(.failed(.neverConnected)), .refused(.sessionFailed)], .failed(.neverConnected), nil
        ),
    ])
    func `steps lead to these actions and this state`(_ row: Row) {
        var rig = AgentRig.checking()
        var actions: [ICEAction] = []
        for step in row.steps {
            switch step {
            case .check(let path): actions += Self.actions(in: rig.receive(.good, over: path))
            case .nominate(let path): actions += Self.actions(in: rig.receive(.nominating, over: path))
            case .hear(let path): actions += rig.agent.heard(over: path, at: rig.clock.now)
            case .wait(let duration): actions += rig.advance(by: duration)
            }
        }
        #expect(actions == row.actions)
        #expect(rig.agent.state == row.state)
        #expect(rig.agent.selectedPath == row.selected)
    }

    static func actions(in outcomes: [AgentRig.Outcome]) -> [ICEAction] {
        outcomes.compactMap { if case .did(let action) = $0 { action } else { nil } }
    }

    @Test func `every deadline has its reason`() {
        var rig = AgentRig()
        #expect(rig.agent.nextDeadline == nil)
        let start = rig.clock.now
        #expect(rig.agent.setRemote(AgentRig.remote, at: start) == [.stateChanged(.checking)])
        #expect(rig.agent.nextDeadline == Deadline(start + .seconds(30), .establishment))
        _ = rig.advance(by: .seconds(1))
        _ = rig.receive(.good, over: Self.a)
        #expect(rig.agent.nextDeadline == Deadline(start + .seconds(8), .silence))
        _ = rig.advance(by: .seconds(1))
        _ = rig.receive(.good, over: Self.b)
        _ = rig.advance(by: .seconds(6))
        #expect(rig.agent.selectedPath == Self.b)
        #expect(rig.agent.nextDeadline == Deadline(start + .seconds(9), .silence))
        _ = rig.advance(by: .seconds(1))
        #expect(rig.agent.nextDeadline == Deadline(start + .seconds(31), .pathExpiry))
        #expect(rig.agent.timeout(at: start + .seconds(30)) == [])
        _ = rig.advance(by: .seconds(22))
        #expect(rig.agent.nextDeadline == Deadline(start + .seconds(32), .consent))
        _ = rig.advance(by: .seconds(100))
        #expect(rig.agent.nextDeadline == nil)
    }

    @Test func `a clock that starts at zero expires nothing early`() {
        var agent = ICELiteAgent(local: AgentRig.local)
        _ = agent.setRemote(AgentRig.remote, at: .zero)
        #expect(agent.timeout(at: .zero) == [])
        #expect(agent.state == .checking)
    }

    @Test func `beyond the limit the path that was silent longest makes room, never the selected one`() {
        var rig = AgentRig.checking(configuration: .init(maximumPathCount: 3))
        let paths = (0..<5).map {
            Path(local: SocketIndex(0), remote: SocketAddress(IPAddress(v4: 1), port: UInt16($0)))
        }
        _ = rig.receive(.nominating, over: paths[0])
        for path in paths[1...2] {
            _ = rig.advance(by: .seconds(1))
            _ = rig.receive(.good, over: path)
        }
        _ = rig.advance(by: .seconds(1))
        #expect(
            Self.actions(in: rig.receive(.good, over: paths[3])) == [
                .pathForgotten(paths[1]), .pathValidated(paths[3]),
            ])
        _ = rig.advance(by: .seconds(1))
        #expect(
            Self.actions(in: rig.receive(.nominating, over: paths[4])) == [
                .pathForgotten(paths[2]), .pathValidated(paths[4]), .selected(paths[4]),
            ])
        #expect(rig.agent.validatedPaths == [paths[0], paths[3], paths[4]])
    }
}
