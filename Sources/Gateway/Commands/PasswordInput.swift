import Foundation
import Sockets

/// Where `orbweaver user` takes a password from. It is never an argument: arguments stand in process lists and shell
/// histories.
package enum PasswordInput: Sendable {
    /// The terminal, asked twice without echo.
    case prompt
    /// The first line of standard input.
    case standardInput
    /// The environment variable `ORBWEAVER_PASSWORD`.
    case environment(String)

    /// Why there is no usable password, in words for the operator.
    package struct Refusal: Error, Equatable, CustomStringConvertible {
        /// One line for standard error.
        package var description: String

        /// Makes a refusal of a sentence.
        package init(description: String) { self.description = description }
    }

    /// Reads the password from its source.
    ///
    /// - Parameters:
    ///   - readLine: returns the next line of standard input without its end; `nil` if there is none.
    ///   - ask: shows a prompt and returns what is typed; `nil` if there is no terminal.
    /// - Throws: ``Refusal`` if there is no password, the two typed ones differ, or it is empty, longer than 256 bytes,
    ///   or holds a control character.
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

    /// The password, if `Basic` can carry it (RFC 7617 §2) and it has a usable length.
    private static func checked(_ password: String) throws(Refusal) -> String {
        guard !password.isEmpty else { throw Refusal(description: "the password is empty") }
        guard password.utf8.count <= 256 else { throw Refusal(description: "the password is longer than 256 bytes") }
        guard !password.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw Refusal(description: "the password contains a control character")
        }
        return password
    }
}
