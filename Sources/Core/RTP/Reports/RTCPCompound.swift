import Primitives

/// An RTCP datagram: one or more packets in sequence (RFC 3550 §6.1).
///
///      0                   1                   2                   3
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///     |V=2|P| RC/FMT  |      PT       |     length in words − 1       |
///
/// Parsing also accepts datagrams that do not start with a report (reduced size, RFC 5506). When a datagram is made,
/// exactly the listed packets are written, in that order.
package struct RTCPCompound: Hashable, Sendable {
    /// The most packets of a datagram that is parsed.
    package static let maximumPackets = 64

    /// The packets, in their order.
    package var packets: [RTCPPacket]

    /// Makes a datagram of these packets.
    package init(_ packets: [RTCPPacket]) { self.packets = packets }

    /// Parses a datagram. One malformed packet invalidates it (RFC 3550 §A.2).
    ///
    /// - Throws: `malformedLength`, `malformedVersion`, `malformedPadding` or `malformedBody`; `limitPackets` for more
    ///   than `maximumPackets` packets.
    package init(parsing datagram: Span<UInt8>) throws(RTPError) {
        packets = []
        guard datagram.count >= 4 else { throw .malformedLength }
        var offset = 0
        while offset < datagram.count {
            guard packets.count < Self.maximumPackets else { throw .limitPackets }
            guard datagram.count - offset >= 4 else { throw .malformedLength }
            let flags = datagram[offset]
            guard flags >> 6 == 2 else { throw .malformedVersion }
            let end = offset + 4 * (Int(datagram.bigEndian16(at: offset + 2)) + 1)
            guard end <= datagram.count else { throw .malformedLength }

            var bodyEnd = end
            if flags & 0x20 != 0 {
                // Only the last packet may be padded (RFC 3550 §6.4.1).
                let padding = Int(datagram[end - 1])
                guard end == datagram.count, padding <= end - offset - 4,
                    Self.isPadding(padding, type: datagram[offset + 1], format: flags & 0x1F)
                else { throw .malformedPadding }
                bodyEnd -= padding
            }
            let body = datagram.extracting((offset + 4)..<bodyEnd)
            packets.append(try RTCPPacket(type: datagram[offset + 1], format: flags & 0x1F, body: body))
            offset = end
        }
    }

    /// RTCP padding is whole words (RFC 3550 §6.4.1). libwebrtc and Pion pad transport-wide feedback by single bytes,
    /// and set the padding bit.
    private static func isPadding(_ count: Int, type: UInt8, format: UInt8) -> Bool {
        if type == RTCPType.transportFeedback, format == FeedbackFormat.transportWide, (1...3).contains(count) {
            return true
        }
        return count >= 4 && count.isMultiple(of: 4)
    }

    /// The datagram as bytes, without SRTCP protection.
    package var bytes: [UInt8] {
        var writer = ByteWriter(reserving: 128)
        for packet in packets { packet.write(to: &writer) }
        return writer.bytes
    }
}
