package import CallControl
package import CallRuntime
import Foundation
import GatewayAPI

/// Carries out the commands in answers of webhooks that are told of a call (docs/bots.md, *A webhook that decides*).
package struct WebhookResponder: WebhookAnswers {
    private let calls: any ApplicationCalls
    private let journal: any Journal
    private let scopes: @Sendable (ApplicationIdentity) async -> Set<ApplicationScope>?

    /// Makes a responder.
    ///
    /// - Parameters:
    ///   - journal: while it cannot keep anything, nothing is decided.
    ///   - scopes: what an application may do, which is nothing if it is gone; `nil`: that cannot be read now.
    package init(
        _ calls: any ApplicationCalls, journal: any Journal,
        scopes: @escaping @Sendable (ApplicationIdentity) async -> Set<ApplicationScope>?
    ) {
        self.calls = calls
        self.journal = journal
        self.scopes = scopes
    }

    /// Whether a call is the application's, and not forgotten.
    package func hasCall(_ id: SessionID, of application: ApplicationIdentity) async -> Bool {
        (try? await calls.call(id, of: application)) != nil
    }

    /// Carries out the command in an answer, if it has one.
    ///
    /// - Throws: why the command is not carried out.
    package func decide(
        by answer: [UInt8], in id: SessionID, of application: ApplicationIdentity
    ) async throws(WebhookAnswerRefusal) -> Bool {
        do throws(V1Error) {
            guard let command = try Self.command(in: answer) else { return false }
            try await check(command, of: application)
            guard !journal.isFailing else { throw .unavailable }
            try await carryOut(command, in: id, of: application)
            return true
        } catch {
            throw WebhookAnswerRefusal(code: error.code.rawValue, reason: error.detail)
        }
    }

    /// The command that an answer names, with its fields; `nil`: it names none.
    private static func command(in answer: [UInt8]) throws(V1Error) -> ApplicationCommand? {
        guard var members = try? JSONDecoder().decode([String: BodyValue].self, from: Data(answer)) else {
            throw V1Error(.requestMalformedJSON, "The answer is not a JSON object.")
        }
        guard let value = members.removeValue(forKey: "command"), value != .null else { return nil }
        guard case .text(let word) = value, let name = ApplicationCommand.Name(rawValue: word) else {
            throw V1Error(.requestInvalidValue, "The member \"command\" names no command.")
        }
        guard !members.isEmpty else { return try ApplicationCommand(name, reading: []) }
        guard let fields = try? JSONEncoder().encode(members) else {
            throw V1Error(.requestMalformedJSON, "The answer has a number that JSON does not have.")
        }
        return try ApplicationCommand(name, reading: Array(fields))
    }

    /// Whether the application has the scope that a request with the command would need.
    private func check(_ command: ApplicationCommand, of application: ApplicationIdentity) async throws(V1Error) {
        guard let scopes = await scopes(application) else { throw .unavailable }
        let scope = V1Operation.command(command.name).scope
        guard scopes.contains(scope) else {
            throw V1Error(.authForbidden, "This needs the scope \(scope.rawValue), which the application has not.")
        }
    }

    private func carryOut(
        _ command: ApplicationCommand, in id: SessionID, of application: ApplicationIdentity
    ) async throws(V1Error) {
        do throws(ApplicationRefusal) {
            _ = try await calls.decide(by: command, in: id, of: application)
        } catch {
            throw V1Error(error)
        }
    }
}
