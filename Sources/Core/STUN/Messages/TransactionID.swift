package import Primitives

/// The 96 random bits by which a response belongs to its request (RFC 8489 §5).
package struct TransactionID: Hashable, Sendable {
    /// The first 32 bits in the message.
    package let high: UInt32
    /// The last 64 bits in the message.
    package let low: UInt64

    /// Makes an ID of its parts; each parameter is the property of that name.
    package init(high: UInt32, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Draws a new ID.
    package init(using random: inout some RandomSource) {
        self.init(high: random.nextUInt32(), low: random.next())
    }
}
