package import Primitives

/// A set of payload types, one bit for each of the 128.
package struct PayloadTypeSet: Equatable, Sendable {
    private var bits: UInt128 = 0

    package init(_ payloadTypes: [PayloadType] = []) {
        for payloadType in payloadTypes { insert(payloadType) }
    }

    package init(_ codecs: [Codec]) {
        for codec in codecs { insert(codec.payloadType) }
    }

    package mutating func insert(_ payloadType: PayloadType) { bits |= 1 << UInt128(payloadType.rawValue) }

    package func contains(_ payloadType: PayloadType) -> Bool { bits & (1 << UInt128(payloadType.rawValue)) != 0 }

    package func isSubset(of other: Self) -> Bool { bits & ~other.bits == 0 }
}
