package import Primitives

/// What ties a response to its request: 96 random bits (RFC 8489 §5).
package struct TransactionID: Hashable, Sendable {
    package let high: UInt32
    package let low: UInt64

    package init(high: UInt32, low: UInt64) {
        self.high = high
        self.low = low
    }

    package init(using random: inout some RandomSource) {
        self.init(high: random.nextUInt32(), low: random.next())
    }
}
