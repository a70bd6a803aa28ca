import ArgumentParser
import Foundation
import Gateway

struct ReplayEvents: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print what the events of calls in a log amount to.",
        discussion: """
            Reads a file that a gateway has written with calls.event_log, and prints one JSON object per line: each call with its legs, \
            their timelines and the notifications to their devices, then the records of each user (docs/call-events.md).

            Lines that cannot be read, and calls of which an event is missing, are left out and named on standard error; the exit \
            status is 1 then.

            Example:

                orbweaver replay-events /var/lib/orbweaver/events.jsonl | jq 'select(.record) | .record.params'
            """
    )

    @Argument(help: "The file.")
    var file: String

    func run() async throws {
        try await reportingFailure {
            var replay = EventReplay()
            replay.replay(try Data(contentsOf: URL(filePath: file)))
            for line in await replay.lines() {
                try FileHandle.standardOutput.write(contentsOf: Data(line) + Data("\n".utf8))
            }
            for problem in replay.problems { writeToStandardError("orbweaver: \(problem)\n") }
            if !replay.problems.isEmpty { throw ExitCode.failure }
        }
    }
}
