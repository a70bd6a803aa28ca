import AdminServer
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

    private static func checked(_ password: String) throws(Refusal) -> String {
        if let complaint = NewPassword.complaint(about: password) {
            throw Refusal(description: "the password \(complaint)")
        }
        return password
    }
}
