import Foundation
import Gateway

/// Asks at the terminal, without echo, twice.
enum PasswordPrompt {
    static func ask() throws -> String {
        guard isatty(STDIN_FILENO) == 1 else { throw GatewayError("no terminal to ask for a password at: use --password-stdin") }
        try echo(false)
        defer { try? echo(true) }  // a terminal that took "-echo" takes "echo"
        let first = line(after: "Password: ")
        guard first == line(after: "Again: ") else { throw GatewayError("the two passwords differ") }
        return first
    }

    private static func line(after prompt: String) -> String {
        FileHandle.standardError.write(Data(prompt.utf8))
        defer { FileHandle.standardError.write(Data("\n".utf8)) }
        return readLine() ?? ""
    }

    private static func echo(_ isOn: Bool) throws {
        let stty = Process()
        stty.executableURL = URL(filePath: "/usr/bin/env")
        stty.arguments = ["stty", isOn ? "echo" : "-echo"]
        try stty.run()
        stty.waitUntilExit()
    }
}
