/// An RTP sequence number: 16 bits that wrap around (RFC 3550 §5.1), compared with serial arithmetic (RFC 1982).
package struct SequenceNumber: Hashable, Sendable {
    /// The number in the packet.
    package var rawValue: UInt16

    /// Makes a sequence number.
    @inlinable
    package init(_ rawValue: UInt16) { self.rawValue = rawValue }

    /// The number `steps` later, with wrap-around; negative steps go back.
    @inlinable
    package static func + (number: Self, steps: Int) -> Self {
        Self(number.rawValue &+ UInt16(truncatingIfNeeded: steps))
    }

    /// The signed distance from `b` to `a`, −32,768 … 32,767; positive if `a` is newer.
    @inlinable
    package static func - (a: Self, b: Self) -> Int {
        Int(Int16(bitPattern: a.rawValue &- b.rawValue))
    }

    /// Whether this number comes after `other` in the stream.
    @inlinable
    package func isNewer(than other: Self) -> Bool { self - other > 0 }
}

/// An RTP timestamp: 32 bits that wrap around, in units of the stream's clock rate (RFC 3550 §5.1).
package struct RTPTimestamp: Hashable, Sendable {
    /// The timestamp in the packet.
    package var rawValue: UInt32

    /// Makes a timestamp.
    @inlinable
    package init(_ rawValue: UInt32) { self.rawValue = rawValue }

    /// The timestamp `ticks` later, with wrap-around; negative ticks go back.
    @inlinable
    package static func + (timestamp: Self, ticks: Int) -> Self {
        Self(timestamp.rawValue &+ UInt32(truncatingIfNeeded: ticks))
    }

    /// The signed distance from `b` to `a` in ticks; positive if `a` is newer.
    @inlinable
    package static func - (a: Self, b: Self) -> Int {
        Int(Int32(bitPattern: a.rawValue &- b.rawValue))
    }

    /// Whether this timestamp comes after `other` in the stream.
    @inlinable
    package func isNewer(than other: Self) -> Bool { self - other > 0 }
}

/// A synchronization source identifier (RFC 3550 §3).
package struct SSRC: Hashable, Sendable {
    /// The number in the packet.
    package var rawValue: UInt32

    /// Makes an SSRC.
    @inlinable
    package init(_ rawValue: UInt32) { self.rawValue = rawValue }
}

/// An RTP payload type, 0…127 (RFC 3550 §5.1).
package struct PayloadType: Hashable, Sendable {
    /// The number, 0…127.
    package let rawValue: UInt8

    /// Makes a payload type; `nil` if the number does not fit seven bits.
    @inlinable
    package init?(_ number: Int) {
        guard (0...127).contains(number) else { return nil }
        rawValue = UInt8(number)
    }

    /// Makes a payload type of the low seven bits of the second byte of an RTP header.
    @inlinable
    package init(maskingHeaderByte byte: UInt8) { rawValue = byte & 0x7F }
}
