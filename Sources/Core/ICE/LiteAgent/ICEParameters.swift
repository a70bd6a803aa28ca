package import Primitives

/// The username fragment and password of one end of an ICE session (RFC 8445 §5.3).
package struct ICEParameters: Hashable, Sendable {
    /// The username fragment, at least 4 ice-chars.
    package var ufrag: String
    /// The password, at least 22 ice-chars. It does not appear in logs.
    package var password: Redacted<String>

    /// Makes parameters; lengths are not checked.
    package init(ufrag: String, password: Redacted<String>) {
        self.ufrag = ufrag
        self.password = password
    }

    /// Draws new parameters: 48 random bits in the fragment and 144 in the password. RFC 8445 §5.3 asks for 24 and 128.
    package init(using random: inout some RandomSource) {
        let ufrag = random.nextToken(8, alphabet: .ice)
        self.init(ufrag: ufrag, password: Redacted(random.nextToken(24, alphabet: .ice)))
    }
}

/// The USERNAME of a check: the receiver's fragment, a colon and the sender's fragment (RFC 8445 §7.2.2).
///
/// If many sessions share a port, the receiver's fragment identifies the session that a check is for.
package struct ICEUsername: Hashable, Sendable {
    /// The fragment of the agent that receives the check.
    package var receiver: String
    /// The fragment of the agent that sends the check.
    package var sender: String

    /// Makes a name of its parts; each parameter is the property of that name.
    package init(receiver: String, sender: String) {
        self.receiver = receiver
        self.sender = sender
    }

    /// Reads a USERNAME; `nil` if it has no colon. The first colon separates, because fragments cannot contain one.
    package init?(parsing text: String) {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        self.init(receiver: String(text[..<colon]), sender: String(text[text.utf8.index(after: colon)...]))
    }

    /// The text of USERNAME.
    package var text: String { "\(receiver):\(sender)" }
}
