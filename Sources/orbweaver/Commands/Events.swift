import ArgumentParser
import Foundation
import Gateway

struct Events: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Follow what happens in calls.", subcommands: [Tail.self])

    struct Tail: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the events of calls as they happen, one JSON object per line, until Ctrl-C.",
            discussion: """
                The events are those of docs/call-events.md, with an id each. --since continues behind an event, as far as the \
                gateway still has what came after it; otherwise a line of the type stream.gap says how many are missing.

                    orbweaver events tail | jq 'select(.type == "call.ended") | .data'
                """)

        @Option(help: "The id of the last event that is known.")
        var since: String?

        @Option(help: "Only the events of this call.")
        var call: String?

        @OptionGroup var options: AdminOptions

        func run() async throws {
            try await reportingFailure {
                let filters = [("since", since), ("call", call)].compactMap { name, value in
                    value.map { "\(name)=\($0.escapedForURL)" }
                }
                try await options.client().follow(
                    "/events" + (filters.isEmpty ? "" : "?" + filters.joined(separator: "&"))
                ) { bytes in
                    // The gateway says now and then that it is there.
                    let text = bytes == [UInt8(ascii: "\n")] ? [] : bytes
                    try FileHandle.standardOutput.write(contentsOf: Data(text))
                }
            }
        }
    }
}
