/// One of the transports of a leg (docs/adr/0007): an ICE and a DTLS association, shared by the m-lines of a BUNDLE
/// group or one m-line's own.
package struct TransportNumber: Hashable, Sendable, Comparable {
    package let rawValue: UInt8

    /// The transport that every leg begins with; the only one of a peer that bundles.
    package static let first = TransportNumber(rawValue: 0)

    private init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A further transport, by the place of its first m-line, from 0.
    package init(ofLine index: Int) {
        precondition(index < UInt8.max, "a description has fewer m-lines")
        rawValue = UInt8(index + 1)
    }

    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
