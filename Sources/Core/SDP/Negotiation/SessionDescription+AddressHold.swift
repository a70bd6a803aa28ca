/// Hold from before directions had a say in it: an address that nobody can send to (RFC 2543 §B.5, RFC 3264 §8.4).
extension SessionDescription {
    /// Whether the describing side wants nothing sent to this m-line, because its address is 0.0.0.0.
    ///
    /// The same address also stands where ICE says the real one, and means nothing there: with port 9 before anything is known
    /// (RFC 8829 §5.2.1, RFC 8840 §4.1.1), and beside candidates. Those may be in another m-line, since bundled ones share them
    /// (RFC 9143 §7.1.3), so one anywhere in the description is enough. With port 0 the m-line is rejected or hidden.
    package func holdsByAddress(_ section: MediaDescription) -> Bool {
        guard section.port != 0, section.port != Self.placeholderPort else { return false }
        guard let connection = section.connections.first ?? connection, connection == .unspecified else { return false }
        return !media.contains { $0.attributes.contains("candidate") }
    }

    /// *Discard* (RFC 863).
    private static let placeholderPort: UInt16 = 9
}

extension MediaDirection {
    /// What is left for a side that holds by its address: it may go on sending.
    package var heldByAddress: MediaDirection { narrowed(to: .sendOnly) }
}
