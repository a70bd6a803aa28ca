import Foundation

/// What `orbweaver app add` and `app change` ask for, in the form of the administration interface. What is `nil` is
/// left out, and stays.
package struct ApplicationWish: Encodable, Sendable {
    /// The name of a new application.
    package var name: String?
    /// The domain of the users whom a new application may log in.
    package var domain: String?
    /// The display name.
    package var displayName: String?
    /// What it may do.
    package var scopes: [String]?
    /// The addresses that it owns.
    package var addresses: [String]?
    /// How long a call waits for a command, in milliseconds.
    package var decisionTime: Int?
    /// What happens to a call about which nobody decides.
    package var fallback: Fallback?
    /// The most calls at a time.
    package var maximumCalls: Int?
    /// How many calls may start in a second.
    package var callsPerSecond: Int?
    /// The program of streams that are asked for without a URL; empty: none any more.
    package var streamURL: String?
    /// The most streams at a time.
    package var maximumStreams: Int?

    /// Makes a wish for nothing.
    package init() {}

    /// What happens to a call about which nobody decides, as it is written on the command line: `reject:busy`,
    /// `forward:alice@example.com`, `announce:closed.wav` or `answer:echo`.
    package struct Fallback: Encodable, Sendable {
        private let kind: String
        private let value: String

        /// Reads a text; `nil` if it does not start with one of the words. The gateway checks the rest.
        package init?(_ text: String) {
            let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
            guard parts.count == 2, ["reject", "forward", "announce", "answer"].contains(parts[0]) else { return nil }
            (kind, value) = (parts[0], parts[1])
        }

        /// Writes it as the administration interface reads it.
        ///
        /// - Throws: what the encoder throws.
        package func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            if kind == "announce" {
                try container.encode([kind: ["items": [["file": value]]]])
            } else {
                try container.encode([kind: value])
            }
        }
    }

    /// The wish as a body.
    var body: [UInt8] {
        do {
            return Array(try JSONEncoder().encode(self))
        } catch {
            preconditionFailure("texts and numbers can be written: \(error)")
        }
    }
}
