import ApplicationServer
import CallControl
import CallRuntime
import Primitives
import Testing

/// Commands in the answers of webhooks.
@Suite struct `Answers of webhooks` {
    private static let command = #"{"command": "answer"}"#

    /// A rig with one call.
    private func makeRig() async throws -> Rig {
        let rig = try await Rig()
        rig.calls.add(RecordedCalls.call("c1"))
        return rig
    }

    /// Whether the answer had a command, or why it is refused.
    private func decide(
        _ rig: Rig, _ answer: String, _ call: String = "c1", scopes: Set<ApplicationScope>? = [.callsWrite]
    ) async -> Result<Bool, WebhookAnswerRefusal> {
        let responder = WebhookResponder(rig.calls, journal: rig.journal) { _ in scopes }
        do throws(WebhookAnswerRefusal) {
            return .success(try await responder.decide(by: Array(answer.utf8), in: SessionID(call), of: Rig.bot))
        } catch {
            return .failure(error)
        }
    }

    private func code(_ result: Result<Bool, WebhookAnswerRefusal>) -> String? {
        if case .failure(let refusal) = result { refusal.code } else { nil }
    }

    @Test func `a command is carried out with its fields`() async throws {
        let transfer = #"{"command": "transfer", "to": "alice@example.com"}"#
        let commands: [(String, ApplicationCommand)] = [
            (#"{"command": "answer"}"#, .answer(CustomContent())), (#"{"command": "ring"}"#, .ring),
            (#"{"command": "reject", "cause": "busy"}"#, .reject(.busy)), (transfer, .transfer(to: Rig.alice)),
            (#"{"command": "end", "reasonText": "later"}"#, .end(reasonText: "later")),
        ]
        for (answer, command) in commands {
            let rig = try await makeRig()
            #expect(await decide(rig, answer) == .success(true))
            #expect(rig.calls.commands == [command])
        }
    }

    @Test func `the first decision wins`() async throws {
        let rig = try await makeRig()
        #expect(await decide(rig, #"{"command": "ring"}"#) == .success(true))
        let second = await decide(rig, #"{"command": "answer"}"#)
        let reason = "The call is decided, or the time to decide is over."
        #expect(second == .failure(.init(code: "call.not_allowed", reason: reason)))
        #expect(rig.calls.commands == [.ring])
    }

    @Test(arguments: ["{}", #"{"ok": true}"#, #"{"command": null}"#])
    func `an answer without a command decides nothing`(_ answer: String) async throws {
        let rig = try await makeRig()
        #expect(await decide(rig, answer) == .success(false))
        #expect(rig.calls.commands.isEmpty)
    }

    @Test(arguments: [
        ("ok", "request.malformed_json"), ("[]", "request.malformed_json"), ("", "request.malformed_json"),
        (#"{"command": "sing"}"#, "request.invalid_value"), (#"{"command": 7}"#, "request.invalid_value"),
        (#"{"command": "answer", "volume": 1}"#, "request.invalid_value"),
        (#"{"command": "reject", "cause": "tired"}"#, "request.invalid_value"),
        (#"{"command": "transfer"}"#, "request.missing_field"),
    ])
    func `an answer that cannot be read is refused`(_ answer: String, _ expected: String) async throws {
        let rig = try await makeRig()
        #expect(code(await decide(rig, answer)) == expected)
        #expect(rig.calls.commands.isEmpty)
    }

    @Test func `the application needs the scope of the command, and the call`() async throws {
        let rig = try await makeRig()
        for scopes in [[.events, .callsRead, .media], []] as [Set<ApplicationScope>] {
            #expect(code(await decide(rig, Self.command, scopes: scopes)) == "auth.forbidden")
        }
        #expect(code(await decide(rig, Self.command, "c2")) == "call.not_found")
        #expect(rig.calls.commands.isEmpty)
    }

    @Test func `while nothing can be kept or read, nothing is decided`() async throws {
        let rig = try await makeRig()
        #expect(code(await decide(rig, Self.command, scopes: nil)) == "service.unavailable")
        rig.journal.fail()
        #expect(code(await decide(rig, Self.command)) == "service.unavailable")
        #expect(rig.calls.commands.isEmpty)
    }
}
