import Foundation
import Logging
import Synchronization
import Testing

import Observability

@Suite struct JSONLinesLogHandlerTests {
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    private let lines = Lines()

    private func makeLogger() -> Logger {
        Logger(label: "orbweaver") { [lines] label in
            JSONLinesLogHandler(label: label, secondsSince1970: 1_700_000_000.25) { line in
                lines.all.withLock { $0.append(line) }
            }
        }
    }

    @Test func `an event is one line of JSON`() throws {
        makeLogger().info(
            "call ended",
            metadata: [LogKey.call: "1f", LogKey.reason: "said \"bye\"\n\u{1}", "list": ["a", "b"], "map": ["k": "v"]])
        let line = try #require(lines.all.withLock { $0 }.first)
        #expect(
            line == #"{"time":"2023-11-14T22:13:20.250Z","level":"info","label":"orbweaver","message":"call ended","#
                + #""facts":{"call.id":"1f","list":["a","b"],"map":{"k":"v"},"reason":"said \"bye\"\n\u0001"}}"# + "\n")
        #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(line.utf8)) }
    }

    @Test func `the event's facts win over the logger's`() throws {
        var logger = makeLogger()
        logger[metadataKey: "a"] = "old"
        logger[metadataKey: "b"] = "kept"
        logger.warning("x", metadata: ["a": "new"])
        let line = try #require(lines.all.withLock { $0 }.first)
        #expect(line.contains(#""facts":{"a":"new","b":"kept"}"#))
    }

    @Test func `levels below the chosen one are not written`() {
        var logger = makeLogger()
        logger.logLevel = .warning
        logger.info("quiet")
        logger.error("loud")
        #expect(lines.all.withLock { $0.count } == 1)
    }

    @Test(arguments: LogOutput.Format.allCases)
    func `the chosen level holds for either format`(_ format: LogOutput.Format) {
        #expect(LogOutput(level: .debug, format: format).makeLogger(label: "x").logLevel == .debug)
    }
}
