import ArgumentParser
import Gateway

struct Drain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stop the gateway in good order, as SIGTERM does.",
        discussion: """
            What happens is in drain.announce, drain.calls and drain.deadline (docs/operations.md). Given a second time it ends \
            quickly. Until it ends calls it can be cancelled; one that SIGTERM has started cannot.
            """)

    @Flag(help: "Only say how far it is: serving, announcing, waiting, ending or done.")
    var status = false

    @Flag(help: "Serve again, as before the drain.")
    var cancel = false

    @OptionGroup var options: AdminOptions

    func validate() throws {
        if status, cancel { throw ValidationError("give either --status or --cancel") }
    }

    func run() async throws {
        try await reportingFailure {
            let method = status ? "GET" : cancel ? "DELETE" : "POST"
            let answer = try await options.client().ask(method, "/drain", status ? nil : [])
            print(try JSONValue(parsing: answer.body)["step"])
        }
    }
}
