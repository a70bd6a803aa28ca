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

                With --as-application they are those of the calls of an application, which needs the scope events. The gateway ends \
                such a tail after an hour; the command then goes on behind the last event.

                    ORBWEAVER_KEY=owk_… orbweaver events tail --as-application --gateway https://gateway.example.com
                """)

        @Option(help: "The id of the last event that is known.")
        var since: String?

        @Option(help: "Only the events of this call.")
        var call: String?

        @Flag(help: "Ask /v1/events with a key, instead of the administration interface.")
        var asApplication = false

        @OptionGroup var application: KeyOptions

        @OptionGroup var options: AdminOptions

        func run() async throws {
            if asApplication {
                let client = try application.client(insecure: options.insecure)
                try await reportingFailure { try await followAsApplication(client) }
            } else {
                try await reportingFailure { try await followAsOperator() }
            }
        }

        private func followAsOperator() async throws {
            try await options.client().follow("/events" + query([("since", since), ("call", call)])) { bytes in
                // The gateway says now and then that it is there.
                let text = bytes == [UInt8(ascii: "\n")] ? [] : bytes
                try FileHandle.standardOutput.write(contentsOf: Data(text))
            }
        }

        /// Goes on until the gateway refuses it, or does not answer.
        private func followAsApplication(_ client: AdminClient) async throws {
            // Without a place of its own the tail would miss what happens while it has no connection.
            var lines = EventLines(since: try await start(client))
            while true {
                try await client.follow("/v1/events" + query([("since", lines.cursor), ("calls", call)])) { bytes in
                    try FileHandle.standardOutput.write(contentsOf: Data(lines.complete(bytes)))
                }
                lines.breakOff()
            }
        }

        /// The event behind which the tail starts; `nil`: there has been none.
        private func start(_ client: AdminClient) async throws -> String? {
            if let since { return since }
            let answer = try await client.ask("GET", "/v1/events?wait=0", accept: "application/json")
            return try JSONValue(parsing: answer.body)["next"].text
        }

        private func query(_ parameters: [(String, String?)]) -> String {
            let given = parameters.compactMap { name, value in value.map { "\(name)=\($0.escapedForURL)" } }
            return given.isEmpty ? "" : "?" + given.joined(separator: "&")
        }
    }
}
