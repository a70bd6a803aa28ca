import Primitives
import RTP

/// Any bytes: the parser does not trap, every range lies within the packet, and a rewritten header reads back.
package func fuzzRTP(_ bytes: Span<UInt8>) {
    guard var header = try? RTPHeader(parsing: bytes) else { return }  // refusing is a fine answer
    precondition(
        header.extensionRange.upperBound <= header.payloadRange.lowerBound, "the payload follows the extension")
    precondition(header.payloadRange.upperBound <= bytes.count, "the payload lies within the packet")
    for id in UInt8.min...UInt8.max {
        guard let element = header.extensionElement(id, in: bytes) else { continue }
        precondition(
            header.extensionRange.contains(element.lowerBound - 1), "an element has its header within the extension")
        precondition(element.upperBound <= header.extensionRange.upperBound, "an element lies within the extension")
    }

    header.marker.toggle()
    header.payloadType = PayloadType(maskingHeaderByte: ~header.payloadType.rawValue)
    header.sequenceNumber = header.sequenceNumber + 1
    header.timestamp = header.timestamp + 960
    header.ssrc = SSRC(~header.ssrc.rawValue)
    var packet = [UInt8](copying: bytes)
    var span = packet.mutableSpan
    header.write(to: &span)
    let original = header.originalSequenceNumber(in: bytes)
    if let original { header.write(originalSequenceNumber: original + 1, to: &span) }
    do {
        let again = try RTPHeader(parsing: packet.span)
        precondition(again == header, "a rewritten header parses to what was written")
        precondition(
            again.originalSequenceNumber(in: packet.span) == original.map { $0 + 1 }, "so does the original number")
    } catch {
        preconditionFailure("a rewritten packet does not parse: \(error)")
    }
}
