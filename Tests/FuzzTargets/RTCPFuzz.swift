import Primitives
import RTP

/// Any bytes: the parser does not trap, and what it understands means the same after building and parsing again.
package func fuzzRTCP(_ bytes: Span<UInt8>) {
    guard let compound = try? RTCPCompound(parsing: bytes) else { return }  // refusing is a fine answer
    let understood = compound.packets.filter { packet in
        if case .other = packet { false } else { true }
    }
    guard !understood.isEmpty else { return }
    do {
        let again = try RTCPCompound(parsing: RTCPCompound(understood.map(writable)).bytes.span)
        precondition(again.packets == understood.map(writable), "packets survive building and parsing")
    } catch {
        preconditionFailure("what was built does not parse: \(error)")
    }
}

/// What has to be less to be written: bits beyond REMB's mantissa, CNAMEs that grew when bytes that are no UTF-8 were
/// replaced.
private func writable(_ packet: RTCPPacket) -> RTCPPacket {
    switch packet {
    case .estimatedMaximumBitrate(var estimate):
        let surplus = max(0, 46 - estimate.bitsPerSecond.leadingZeroBitCount)
        estimate.bitsPerSecond = (estimate.bitsPerSecond >> UInt64(surplus)) << UInt64(surplus)
        return .estimatedMaximumBitrate(estimate)
    case .sourceDescription(var description):
        for index in description.chunks.indices where (description.chunks[index].cname?.utf8.count ?? 0) > 255 {
            description.chunks[index].cname = "too long"
        }
        return .sourceDescription(description)
    case .senderReport, .receiverReport, .goodbye, .genericNACK, .pictureLossIndication, .fullIntraRequest,
        .transportFeedback, .other:
        return packet
    }
}
