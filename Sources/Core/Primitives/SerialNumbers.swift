/// An RTP sequence number: 16 bits that wrap (RFC 3550 §5.1), compared with serial arithmetic (RFC 1982).
package struct SequenceNumber: Hashable, Sendable {
    package var rawValue: UInt16

    @inlinable
    package init(_ rawValue: UInt16) { self.rawValue = rawValue }

    @inlinable
    package static func + (number: Self, steps: Int) -> Self {
        Self(number.rawValue &+ UInt16(truncatingIfNeeded: steps))
    }

    /// The signed distance from `b` to `a`, −32,768 … 32,767: positive if `a` is newer.
    @inlinable
    package static func - (a: Self, b: Self) -> Int {
        Int(Int16(bitPattern: a.rawValue &- b.rawValue))
    }

    /// Whether this number comes after `other` in the stream.
    @inlinable
    package func isNewer(than other: Self) -> Bool { self - other > 0 }
}

/// An RTP timestamp: 32 bits that wrap, in units of the stream's clock rate (RFC 3550 §5.1).
package struct RTPTimestamp: Hashable, Sendable {
    package var rawValue: UInt32

    @inlinable
    package init(_ rawValue: UInt32) { self.rawValue = rawValue }

    @inlinable
    package static func + (timestamp: Self, ticks: Int) -> Self {
        Self(timestamp.rawValue &+ UInt32(truncatingIfNeeded: ticks))
    }

    /// The signed distance from `b` to `a` in ticks.
    @inlinable
    package static func - (a: Self, b: Self) -> Int {
        Int(Int32(bitPattern: a.rawValue &- b.rawValue))
    }

    @inlinable
    package func isNewer(than other: Self) -> Bool { self - other > 0 }
}

/// A synchronization source identifier (RFC 3550 §3).
package struct SSRC: Hashable, Sendable {
    package var rawValue: UInt32

    @inlinable
    package init(_ rawValue: UInt32) { self.rawValue = rawValue }
}

/// An RTP payload type, 0…127 (RFC 3550 §5.1).
package struct PayloadType: Hashable, Sendable {
    package let rawValue: UInt8

    /// `nil` for a number that seven bits cannot hold.
    @inlinable
    package init?(_ number: Int) {
        guard (0...127).contains(number) else { return nil }
        rawValue = UInt8(number)
    }

    /// The low seven bits of an RTP header's second byte.
    @inlinable
    package init(maskingHeaderByte byte: UInt8) { rawValue = byte & 0x7F }
}
