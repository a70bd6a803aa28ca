import Cryptography
package import Primitives

/// A bearer token of the administration interface.
///
/// It is 252 random bits behind a prefix that says what it is, so that scanners for secrets find it. Nobody can guess
/// it, whatever a guess costs, so it is stored as a plain SHA-256: a slow hash protects secrets that people choose.
package struct AdminToken: Sendable {
    /// The token, which is shown once, when it is made.
    package let text: Redacted<String>

    private static let prefix = "orbadm_"
    private static let length = 42

    /// Draws a token.
    package init(random: inout some RandomSource) {
        text = Redacted(Self.prefix + random.nextToken(Self.length, alphabet: .url))
    }

    /// Reads a token; `nil` if the text does not look like one.
    package init?(_ text: some StringProtocol) {
        guard text.hasPrefix(Self.prefix), text.utf8.count == Self.prefix.utf8.count + Self.length else { return nil }
        self.text = Redacted(String(text))
    }

    /// What is stored of it.
    package var digest: [UInt8] { Digest.sha256.hash(Array(text.value.utf8)) }
}
