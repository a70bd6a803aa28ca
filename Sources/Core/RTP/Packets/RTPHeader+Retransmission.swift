package import Primitives

/// The payload of a retransmission packet: the original sequence number, then the original payload (RFC 4588 §4).
extension RTPHeader {
    /// The original sequence number; `nil` for a packet with padding only, which senders use to probe the bandwidth.
    package func originalSequenceNumber(in packet: Span<UInt8>) -> SequenceNumber? {
        guard payloadRange.count >= 2 else { return nil }
        return SequenceNumber(packet.bigEndian16(at: payloadRange.lowerBound))
    }

    /// Overwrites the original sequence number of a packet; a packet without one traps.
    package func write(originalSequenceNumber number: SequenceNumber, to packet: inout MutableSpan<UInt8>) {
        precondition(payloadRange.count >= 2, "a packet without a payload has no original sequence number")
        packet.setBigEndian16(number.rawValue, at: payloadRange.lowerBound)
    }
}
