import ArgumentParser
import Gateway

struct Drain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stop the gateway in good order, as SIGTERM does.",
        discussion: """
            What happens is in drain.announce, drain.calls and drain.deadline (docs/operations.md). It cannot be taken back. \
            Given a second time it ends quickly.
            """)

    @Flag(help: "Only say how far it is: serving, announcing, waiting, ending or done.")
    var status = false

    @OptionGroup var options: AdminOptions

    func run() async throws {
        try await reportingFailure {
            let answer = try await options.client().ask(status ? "GET" : "POST", "/drain", status ? nil : [])
            print(try JSONValue(parsing: answer.body)["step"])
        }
    }
}
