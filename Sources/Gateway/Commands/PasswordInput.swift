import Foundation
import Terminal

/// Where `orbweaver user` takes a password from. Never an argument: arguments stand in process lists and shell histories.
package enum PasswordInput: Sendable {
    /// Asked twice without echo.
    case prompt
    /// The first line of standard input.
    case standardInput
    /// `ORBWEAVER_PASSWORD`.
    case environment(String)

    package struct Refusal: Error, Equatable, CustomStringConvertible {
        package var description: String

        package init(description: String) { self.description = description }
    }

    /// - Parameter readLine: the next line of standard input, without its end.
    package func read(
        readLine: () -> String? = { Swift.readLine() }, ask: (String) -> String? = { Terminal.readSecret(prompt: $0) }
    ) throws(Refusal) -> String {
        switch self {
        case .environment(let password):
            return try Self.checked(password)
        case .standardInput:
            guard let password = readLine() else {
                throw Refusal(description: "there is no password on standard input")
            }
            return try Self.checked(password)
        case .prompt:
            guard let password = ask("Password: ") else {
                throw Refusal(description: "there is no terminal to ask on; use --password-stdin or ORBWEAVER_PASSWORD")
            }
            let checked = try Self.checked(password)
            guard ask("Again: ") == checked else { throw Refusal(description: "the passwords differ") }
            return checked
        }
    }

    /// What `Basic` can carry (RFC 7617 §2), and a length that nobody types.
    private static func checked(_ password: String) throws(Refusal) -> String {
        guard !password.isEmpty else { throw Refusal(description: "the password is empty") }
        guard password.utf8.count <= 256 else { throw Refusal(description: "the password is longer than 256 bytes") }
        guard !password.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw Refusal(description: "the password contains a control character")
        }
        return password
    }
}
