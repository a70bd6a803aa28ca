import Foundation
package import Logging

/// Writes one JSON object per event: `time`, `level`, `label`, `message`, and the metadata as `facts`.
package struct JSONLinesLogHandler: LogHandler {
    /// The least important level that is written.
    package var logLevel = Logger.Level.info
    /// Metadata that every event of this logger gets.
    package var metadata: Logger.Metadata = [:]
    /// Metadata from the context of the call; `nil`: none. It overrides ``metadata``, and the event's own metadata
    /// overrides it.
    package var metadataProvider: Logger.MetadataProvider?
    private let label: String
    private let now: @Sendable () -> Date
    private let write: @Sendable (String) -> Void

    /// Makes a handler that writes to standard error.
    package init(label: String) {
        self.init(label: label, now: { Date() }, write: Self.writeToStandardError)
    }

    init(label: String, now: @escaping @Sendable () -> Date, write: @escaping @Sendable (String) -> Void) {
        self.label = label
        self.now = now
        self.write = write
    }

    /// Makes a handler for tests, with a fixed time in seconds since 1970 and lines that go elsewhere.
    package init(label: String, secondsSince1970: Double, write: @escaping @Sendable (String) -> Void) {
        self.init(label: label, now: { Date(timeIntervalSince1970: secondsSince1970) }, write: write)
    }

    /// One value of ``metadata``.
    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes one line.
    package func log(event: LogEvent) {
        var facts = metadata
        if let provided = metadataProvider?.get() { facts.merge(provided) { $1 } }
        if let own = event.metadata { facts.merge(own) { $1 } }
        if let error = event.error { facts[LogKey.error] = "\(error)" }
        var line = "{\"time\":\"\(now().formatted(Self.timeFormat))\""
        line += ",\"level\":\"\(event.level.rawValue)\""
        line += ",\"label\":" + JSONText.string(label)
        line += ",\"message\":" + JSONText.string(event.message.description)
        if !facts.isEmpty { line += ",\"facts\":" + JSONText.object(facts) }
        write(line + "}\n")
    }

    private static let timeFormat = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// One `write` per line, so that lines of several threads do not mix.
    @Sendable private static func writeToStandardError(_ line: String) {
        // If standard error cannot be written there is no place left to complain.
        try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
    }
}

/// JSON text (RFC 8259 §7) of log metadata.
private enum JSONText {
    static func object(_ metadata: Logger.Metadata) -> String {
        "{" + metadata.sorted { $0.key < $1.key }.map { string($0.key) + ":" + value($0.value) }.joined(separator: ",")
            + "}"
    }

    private static func value(_ value: Logger.Metadata.Value) -> String {
        switch value {
        case .string(let text): string(text)
        case .stringConvertible(let convertible): string(convertible.description)
        case .dictionary(let metadata): object(metadata)
        case .array(let values): "[" + values.map { self.value($0) }.joined(separator: ",") + "]"
        }
    }

    static func string(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "\u{0}"..<"\u{20}":
                result += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
