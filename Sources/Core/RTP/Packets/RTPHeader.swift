package import Primitives

/// The header of an RTP packet (RFC 3550 §5.1) and where its parts lie.
///
///      0                   1                   2                   3
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///     |V=2|P|X|  CC   |M|     PT      |       sequence number         |
///     |                           timestamp                           |
///     |           synchronization source (SSRC) identifier            |
///     |            contributing source (CSRC) identifiers, CC × 4     |
///     |      defined by profile       |           length              |  if X
///     |                        header extension                       |
///
/// The five fields that a relay changes are variables; `write(to:)` writes them into the packet they were parsed from.
/// The value is trivial and small, because it is passed on with every packet. Parsing allocates nothing and keeps no
/// reference to the packet.
package struct RTPHeader: Equatable, Sendable {
    /// Bytes of a header without contributing sources and extension.
    package static let fixedLength = 12

    /// The marker bit (M).
    package var marker: Bool
    /// The payload type (PT).
    package var payloadType: PayloadType
    /// The sequence number.
    package var sequenceNumber: SequenceNumber
    /// The timestamp, in ticks of the codec's clock.
    package var timestamp: RTPTimestamp
    /// The synchronization source.
    package var ssrc: SSRC

    /// The 16 bits "defined by profile" of the header extension; 0 without one.
    package let extensionProfile: UInt16
    private let extensionStart: UInt16
    /// The offset of the payload, behind the extension.
    private let payloadStart: UInt16
    private let payloadEnd: UInt16

    /// The range of the header extension without its own four-byte header; empty if there is none.
    package var extensionRange: Range<Int> { Int(extensionStart)..<Int(payloadStart) }
    /// The range of the payload without padding.
    package var payloadRange: Range<Int> { Int(payloadStart)..<Int(payloadEnd) }

    /// Parses a whole packet. It must have been decrypted already for the padding to be right.
    ///
    /// - Throws: `malformedLength`, `malformedVersion` or `malformedPadding`.
    package init(parsing packet: Span<UInt8>) throws(RTPError) {
        // A datagram cannot be longer.
        guard packet.count >= Self.fixedLength, packet.count <= UInt16.max else { throw .malformedLength }
        let flags = packet[0]
        guard flags >> 6 == 2 else { throw .malformedVersion }
        marker = packet[1] & 0x80 != 0
        payloadType = PayloadType(maskingHeaderByte: packet[1])
        sequenceNumber = SequenceNumber(packet.bigEndian16(at: 2))
        timestamp = RTPTimestamp(packet.bigEndian32(at: 4))
        ssrc = SSRC(packet.bigEndian32(at: 8))

        var end = Self.fixedLength + 4 * Int(flags & 0x0F)
        if flags & 0x10 != 0 {
            guard packet.count >= end + 4 else { throw .malformedLength }
            extensionProfile = packet.bigEndian16(at: end)
            let start = end + 4
            end = start + 4 * Int(packet.bigEndian16(at: end + 2))
            guard packet.count >= end else { throw .malformedLength }
            extensionStart = UInt16(truncatingIfNeeded: start)
        } else {
            extensionProfile = 0
            guard packet.count >= end else { throw .malformedLength }
            extensionStart = UInt16(truncatingIfNeeded: end)
        }
        payloadStart = UInt16(truncatingIfNeeded: end)

        guard flags & 0x20 != 0 else {
            payloadEnd = UInt16(truncatingIfNeeded: packet.count)
            return
        }
        // The last byte is the number of padding bytes, itself included.
        let padding = Int(packet[packet.count - 1])
        guard padding >= 1, padding <= packet.count - end else { throw .malformedPadding }
        payloadEnd = UInt16(truncatingIfNeeded: packet.count - padding)
    }

    /// Makes the header of a packet without extension, contributing sources and padding, whose payload is not known
    /// yet.
    package init(
        marker: Bool, payloadType: PayloadType, sequenceNumber: SequenceNumber, timestamp: RTPTimestamp, ssrc: SSRC
    ) {
        self.marker = marker
        self.payloadType = payloadType
        self.sequenceNumber = sequenceNumber
        self.timestamp = timestamp
        self.ssrc = ssrc
        extensionProfile = 0
        (extensionStart, payloadStart, payloadEnd) = (
            UInt16(Self.fixedLength), UInt16(Self.fixedLength), UInt16(Self.fixedLength)
        )
    }

    /// Writes all twelve bytes of a header that was not parsed. A header that was parsed from a packet with extension
    /// or contributing sources traps.
    package func writeNew(to packet: inout MutableSpan<UInt8>) {
        precondition(payloadRange.lowerBound == Self.fixedLength, "a header that was parsed goes back with write(to:)")
        packet[0] = 0x80
        write(to: &packet)
    }

    /// Overwrites marker, payload type, sequence number, timestamp and SSRC of the packet that starts at `start`.
    package func write(to packet: inout MutableSpan<UInt8>, at start: Int = 0) {
        precondition(
            packet.count - start >= Self.fixedLength, "an RTP header goes back into the packet it was parsed from")
        packet[start + 1] = payloadType.rawValue | (marker ? 0x80 : 0)
        packet.setBigEndian16(sequenceNumber.rawValue, at: start + 2)
        packet.setBigEndian32(timestamp.rawValue, at: start + 4)
        packet.setBigEndian32(ssrc.rawValue, at: start + 8)
    }
}
