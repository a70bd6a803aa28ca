package import Primitives

/// A set of payload types, one bit for each of the 128.
package struct PayloadTypeSet: Equatable, Sendable {
    private var bits: UInt128 = 0

    /// Makes a set of these payload types; empty without an argument.
    package init(_ payloadTypes: [PayloadType] = []) {
        for payloadType in payloadTypes { insert(payloadType) }
    }

    /// Makes a set of the payload types of these codecs.
    package init(_ codecs: [Codec]) {
        for codec in codecs { insert(codec.payloadType) }
    }

    /// Adds a payload type.
    package mutating func insert(_ payloadType: PayloadType) { bits |= 1 << UInt128(payloadType.rawValue) }

    /// Whether the payload type is in the set.
    package func contains(_ payloadType: PayloadType) -> Bool { bits & (1 << UInt128(payloadType.rawValue)) != 0 }

    /// Whether all payload types of this set are in `other`.
    package func isSubset(of other: Self) -> Bool { bits & ~other.bits == 0 }
}
