package import Primitives

/// The username fragment and password of one end of an ICE session (RFC 8445 §5.3).
package struct ICEParameters: Hashable, Sendable {
    package var ufrag: String
    package var password: Redacted<String>

    package init(ufrag: String, password: Redacted<String>) {
        self.ufrag = ufrag
        self.password = password
    }

    /// Fresh parameters: 48 bits of fragment and 144 of password, where RFC 8445 §5.3 asks for 24 and 128.
    package init(using random: inout some RandomSource) {
        let ufrag = random.nextToken(8, alphabet: .ice)
        self.init(ufrag: ufrag, password: Redacted(random.nextToken(24, alphabet: .ice)))
    }
}

/// The USERNAME of a check: the receiver's fragment, a colon, the sender's (RFC 8445 §7.2.2).
///
/// Where many sessions share a port, the receiver's fragment says which of them a check is for.
package struct ICEUsername: Hashable, Sendable {
    package var receiver: String
    package var sender: String

    package init(receiver: String, sender: String) {
        self.receiver = receiver
        self.sender = sender
    }

    /// `nil` without a colon. Fragments cannot contain one, so the first divides.
    package init?(parsing text: String) {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        self.init(receiver: String(text[..<colon]), sender: String(text[text.utf8.index(after: colon)...]))
    }

    package var text: String { "\(receiver):\(sender)" }
}
