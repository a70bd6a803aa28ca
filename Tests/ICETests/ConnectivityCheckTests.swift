import ICE
import Primitives
import STUN
import TestSupport
import Testing

/// What becomes of a single message (RFC 8489 §6.3, §9.1.3; RFC 8445 §7.3).
@Suite struct ConnectivityCheckTests {
    typealias Check = AgentRig.Check
    private static let path = AgentRig.a

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var check: Check
        var outcomes: [AgentRig.Outcome]

        init(_ description: String, _ check: Check, _ outcomes: [AgentRig.Outcome]) {
            (testDescription, self.check, self.outcomes) = (description, check, outcomes)
        }
    }

    private static func dropped(_ refusal: ICERefusal) -> [AgentRig.Outcome] { [.did(.refused(refusal))] }

    private static func rejected(_ refusal: ICERefusal, _ code: Int, authenticated: Bool = false) -> [AgentRig.Outcome]
    {
        [.did(.refused(refusal)), .answered(code, path, authenticated: authenticated)]
    }

    @Test(arguments: [
        Row("response", Check(messageClass: .success), dropped(.response)),
        Row("error response", Check(messageClass: .error), dropped(.response)),
        Row("indication", Check(messageClass: .indication), dropped(.indication)),
        Row("Allocate", Check(method: STUNMethod(3)), dropped(.unsupportedMethod)),
        Row("no FINGERPRINT", Check(fingerprint: false), dropped(.missingFingerprint)),
        Row("wrong FINGERPRINT", Check(damage: { $0[$0.count - 1] ^= 1 }), dropped(.wrongFingerprint)),
        Row("no MESSAGE-INTEGRITY", Check(password: nil), rejected(.missingCredentials, 400)),
        Row("no USERNAME", Check(username: nil), rejected(.missingCredentials, 400)),
        Row("USERNAME of another session", Check(username: "other:peer"), rejected(.wrongUsername, 401)),
        Row("USERNAME of another peer", Check(username: "gate:other"), rejected(.wrongUsername, 401)),
        Row("USERNAME the wrong way round", Check(username: "peer:gate"), rejected(.wrongUsername, 401)),
        Row("USERNAME in another case", Check(username: "Gate:peer"), rejected(.wrongUsername, 401)),
        Row("USERNAME without colon", Check(username: "gate"), rejected(.wrongUsername, 401)),
        Row("empty USERNAME", Check(username: ""), rejected(.wrongUsername, 401)),
        Row("wrong password", Check(password: "guess"), rejected(.wrongIntegrity, 401)),
        Row("the peer's own password", Check(password: AgentRig.remote.password.value), rejected(.wrongIntegrity, 401)),
        Row(
            "unknown required attribute", Check(more: [.unknown(STUNAttributeType(0x7001), [1])]),
            rejected(.unknownAttributes, 420, authenticated: true)
        ),
        Row(
            "unknown required attribute and wrong password",
            Check(password: "guess", more: [.unknown(STUNAttributeType(0x7001), [1])]), rejected(.wrongIntegrity, 401)
        ),
        Row(
            "controlled peer", Check(role: .iceControlled(tieBreaker: 0)),
            rejected(.roleConflict, 487, authenticated: true)),
        Row(
            "controlled peer with the larger tie-breaker", Check(role: .iceControlled(tieBreaker: .max)),
            rejected(.roleConflict, 487, authenticated: true)),
    ])
    func `a message that is no valid check validates nothing`(_ row: Row) {
        var rig = AgentRig.checking()
        #expect(rig.receive(row.check, over: Self.path) == row.outcomes)
        #expect(rig.agent.state == .checking)
        #expect(!rig.agent.accepts(Self.path))
        #expect(rig.agent.selectedPath == nil)
    }

    @Test(arguments: [
        Row("plain", .good, []),
        Row("no role", Check(role: nil), []),
        Row("unknown optional attribute", Check(more: [.unknown(STUNAttributeType(0xC057), [0, 1])]), []),
    ])
    func `a valid check is answered and validates its path`(_ row: Row) {
        var rig = AgentRig.checking()
        let outcomes = rig.receive(row.check, over: Self.path)
        #expect(
            outcomes == [
                .succeeded(Self.path), .did(.pathValidated(Self.path)), .did(.selected(Self.path)),
                .did(.stateChanged(.connected)),
            ])
        #expect(rig.agent.accepts(Self.path))
    }

    @Test func `a 420 names the attributes`() throws {
        var rig = AgentRig.checking()
        let types = [STUNAttributeType(0x7001), STUNAttributeType(0x0015)]
        let bytes = rig.encode(Check(more: types.map { .unknown($0, []) }))
        let message = try STUNMessage(parsing: bytes.span)
        let actions = rig.agent.receive(
            message, raw: bytes.span, over: Self.path, at: rig.clock.now, authentication: TestAuthentication())
        guard case .transmit(let response, _)? = actions.last else {
            Issue.record("no response in \(actions)")
            return
        }
        #expect(try STUNMessage(parsing: response.span).attributes.contains(.unknownAttributes(types)))
    }

    @Test func `what anybody can have sent draws no more bytes than it had`() throws {
        var rig = AgentRig.checking()
        // The shortest requests that get as far as a 400 and a 401.
        let short = [
            STUNMessage(.request, .binding, TransactionID(high: 1, low: 1)).encoded(fingerprint: true),
            STUNMessage(.request, .binding, TransactionID(high: 1, low: 2), [.username("a:b")])
                .encoded(password: "guess", authentication: TestAuthentication()),
            STUNMessage(.request, .binding, TransactionID(high: 1, low: 3), [.username("gate:peer")]).encoded(
                fingerprint: true),
        ]
        for bytes in short {
            let message = try STUNMessage(parsing: bytes.span)
            let actions = rig.agent.receive(
                message, raw: bytes.span, over: Self.path, at: rig.clock.now, authentication: TestAuthentication())
            guard case .refused? = actions.first else {
                Issue.record("not refused: \(actions)")
                continue
            }
            for case .transmit(let answer, _) in actions { #expect(answer.count <= bytes.count) }
        }
        for row in [
            Check(password: nil), Check(username: nil), Check(password: "guess"), Check(username: "other:peer"),
        ] {
            let bytes = rig.encode(row)
            let message = try STUNMessage(parsing: bytes.span)
            let actions = rig.agent.receive(
                message, raw: bytes.span, over: Self.path, at: rig.clock.now, authentication: TestAuthentication())
            for case .transmit(let answer, _) in actions { #expect(answer.count <= bytes.count) }
        }
    }

    @Test func `checks count before the peer's description is known`() {
        var rig = AgentRig()
        #expect(rig.agent.nextDeadline == nil)
        #expect(rig.receive(.good, over: Self.path).first == .succeeded(Self.path))
        #expect(rig.agent.state == .connected)
        #expect(rig.agent.setRemote(AgentRig.remote, at: rig.clock.now) == [])
        #expect(rig.receive(Check(username: "gate:whoever"), over: Self.path) == Self.rejected(.wrongUsername, 401))
        #expect(rig.receive(.good, over: Self.path) == [.succeeded(Self.path)])
    }

    @Test func `paths of a device that was not answered to are forgotten`() {
        var rig = AgentRig()
        _ = rig.receive(Check(username: "gate:whoever"), over: Self.path)
        #expect(
            rig.agent.setRemote(AgentRig.remote, at: rig.clock.now) == [
                .pathForgotten(Self.path), .stateChanged(.checking),
            ])
        #expect(!rig.agent.accepts(Self.path))
        #expect(rig.receive(.good, over: AgentRig.b).contains(.did(.selected(AgentRig.b))))
    }

    @Test func `the answered device's path takes over from another's`() {
        var rig = AgentRig()
        _ = rig.receive(Check(username: "gate:whoever"), over: Self.path)
        _ = rig.receive(.good, over: AgentRig.b)
        #expect(
            rig.agent.setRemote(AgentRig.remote, at: rig.clock.now) == [
                .pathForgotten(Self.path), .selected(AgentRig.b),
            ])
        #expect(rig.agent.accepts(AgentRig.b))
    }

    @Test func `a refused message neither refreshes consent nor moves the selection`() {
        var rig = AgentRig.checking()
        _ = rig.receive(.nominating, over: AgentRig.a)
        let deadline = rig.agent.nextDeadline
        _ = rig.advance(by: .seconds(5))
        for bad in [
            Check(password: "guess", nominates: true), Check(nominates: true, role: .iceControlled(tieBreaker: 1)),
            Check(messageClass: .indication),
        ] {
            _ = rig.receive(bad, over: AgentRig.a)
            _ = rig.receive(bad, over: AgentRig.b)
        }
        #expect(rig.agent.nextDeadline == deadline)
        #expect(rig.agent.selectedPath == AgentRig.a)
        #expect(!rig.agent.accepts(AgentRig.b))
    }

    @Test func `a spoofed source is a path of its own`() {
        var rig = AgentRig.checking()
        _ = rig.receive(.nominating, over: AgentRig.a)
        #expect(rig.agent.accepts(AgentRig.a))
        #expect(!rig.agent.accepts(AgentRig.b))
        // The same remote address on another of our sockets is another flow.
        #expect(!rig.agent.accepts(Path(local: SocketIndex(1), remote: AgentRig.a.remote)))
    }

    @Test(arguments: [
        ("a:b", "a", "b"), (":b", "", "b"), ("a:", "a", ""), ("a:b:c", "a", "b:c"), ("ä:b", "ä", "b"),
    ])
    func `a username is split at the first colon`(_ text: String, _ receiver: String, _ sender: String) {
        #expect(ICEUsername(parsing: text) == ICEUsername(receiver: receiver, sender: sender))
        #expect(ICEUsername(parsing: text)?.text == text)
    }
}
