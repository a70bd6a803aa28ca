import ArgumentParser
import Foundation
import Gateway

struct Call: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Place a call as an application, and say whether what is expected happens.",
        discussion: """
            Exits with 0 if what is expected happens in time, else with 1; why is on standard error. It is 1 as well if a file of \
            --play is not played to its end. The states of the call, and how much was heard, are on standard output. The call ends with the command. The key needs the scopes calls:read and calls:write, and media for \
            --play, --keys and --expect keys:.

                export ORBWEAVER_KEY=owk_…
                orbweaver call --to alice@example.com
                orbweaver call --to ivr@example.com --play hello.wav --keys 1 --expect keys:12 --timeout 60
                orbweaver call --to carol@example.com --expect busy

            What can be expected:

                answered      the callee answers, and hears everything that is played and pressed to its end
                keys:12       the callee presses these keys and no others; files of --play are the prompt
                ended         the callee answers, and hangs up
                busy, rejected, unanswered, unreachable, unknown (no such address), or another cause of docs/call-states.md
            """)

    @Option(help: ArgumentHelp("The address to call.", valueName: "address"))
    var to: String

    @Option(help: ArgumentHelp("An address of the application; by default its only one.", valueName: "address"))
    var from: String?

    @Option(help: "What the callee sees; by default the name of the application.")
    var name: String?

    @Option(help: ArgumentHelp("A file of media.folder to play after the answer; may be repeated.", valueName: "file"))
    var play: [String] = []

    @Option(help: "Keys to press after it: 0-9, A-D, * and #; a comma is a pause of two seconds.")
    var keys = ""

    @Option(help: "What has to happen.")
    var expect = "answered"

    @Option(help: ArgumentHelp("How long the call may take in all, 1 to 600.", valueName: "seconds"))
    var timeout = 30

    @Flag(help: "Do not verify the certificate of the gateway.")
    var insecure = false

    @OptionGroup var application: KeyOptions

    func validate() throws {
        guard 1...600 ~= timeout else { throw ValidationError("--timeout must be 1 to 600 seconds") }
        guard keys.count <= 128, keys.uppercased().allSatisfy("0123456789ABCD*#,".contains) else {
            throw ValidationError("--keys must be at most 128 of 0-9, A-D, *, # and commas")
        }
        guard play.count <= 100 else { throw ValidationError("--play can be given 100 times") }
        _ = try expectation()
    }

    func run() async throws {
        let client = try application.client(insecure: insecure)
        try await reportingFailure {
            let expectation = try expectation()
            let target = TrialCall.Target(to: to, from: from, displayName: name)
            let call = TrialCall(client, target: target, timeout: .seconds(timeout)) { line in
                // At once, also into a pipe. If nobody reads, the call goes on.
                try? FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
            }
            let trial = CallTrial(files: play, keys: keys, expectation: expectation)
            if case .missed(let why) = try await call.run(trial) {
                writeToStandardError("orbweaver: expected \(expectation.text): \(why)\n")
                throw ExitCode.failure
            }
        }
    }

    private func expectation() throws -> CallTrial.Expectation {
        do {
            return try CallTrial.Expectation(parsing: expect)
        } catch {
            throw ValidationError("--expect \(error)")
        }
    }
}
