/// The number of a transport of a leg (docs/adr/0007). A transport is an ICE and a DTLS association; the m-lines of a
/// BUNDLE group share one, any other m-line has its own.
package struct TransportNumber: Hashable, Sendable, Comparable {
    /// 0 for the first transport, else one more than the index of the m-line it was made for.
    package let rawValue: UInt8

    /// The transport that every leg starts with, and the only one of a peer that bundles.
    package static let first = TransportNumber(rawValue: 0)

    private init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Makes the number of a further transport.
    ///
    /// - Parameter index: The index of its first m-line, at most 254.
    package init(ofLine index: Int) {
        precondition(index < UInt8.max, "a description has fewer m-lines")
        rawValue = UInt8(index + 1)
    }

    /// Orders transports by number, the first transport first.
    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
