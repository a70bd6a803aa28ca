/// Hold by address, which is older than hold by direction: an address to which nothing can be sent (RFC 2543 §B.5,
/// RFC 3264 §8.4).
extension SessionDescription {
    /// Whether the describing side holds this m-line: its address is 0.0.0.0, so that nothing is sent to it.
    ///
    /// The same address is a placeholder if ICE supplies the real one, and then it is no hold: with port 9 before any
    /// candidate is known (RFC 8829 §5.2.1, RFC 8840 §4.1.1), and beside candidates. Bundled m-lines share candidates
    /// (RFC 9143 §7.1.3), so a candidate anywhere in the description is enough. An m-line with port 0 is rejected or
    /// hidden, not held.
    package func holdsByAddress(_ section: MediaDescription) -> Bool {
        guard section.port != 0, section.port != Self.placeholderPort else { return false }
        guard let connection = section.connections.first ?? connection, connection == .unspecified else { return false }
        return !media.contains { $0.attributes.contains("candidate") }
    }

    /// The *discard* port (RFC 863).
    private static let placeholderPort: UInt16 = 9
}

extension MediaDirection {
    /// The direction of a side that holds by address: it may still send, but does not receive.
    package var heldByAddress: MediaDirection { narrowed(to: .sendOnly) }
}
