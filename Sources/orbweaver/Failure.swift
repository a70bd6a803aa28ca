import ArgumentParser
import Foundation

/// Runs the body of a command. An error that it throws is written to standard error, line by line, and ends the process
/// with status 1.
func reportingFailure(_ body: () async throws -> Void) async throws {
    do {
        try await body()
    } catch let exit as ExitCode {
        throw exit
    } catch {
        for line in "\(error)".split(separator: "\n") { writeToStandardError("orbweaver: \(line)\n") }
        throw ExitCode.failure
    }
}

func writeToStandardError(_ text: String) {
    // If standard error cannot be written there is no place left to complain.
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
}
