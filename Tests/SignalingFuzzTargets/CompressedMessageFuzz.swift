import Zlib

/// Any bytes as the payload of a compressed message (RFC 7692 §7.2.2): what comes out is within the limit, and is the
/// same the next time, since no message refers to another. It can be compressed, and then comes out once more.
package func fuzzCompressedMessage(_ bytes: Span<UInt8>) {
    var inflater = Inflater()
    for limit in [1, 100, 16_384] {
        guard let message = decompressed(bytes, limit, &inflater) else { continue }
        precondition(message.count <= limit, "no more than the limit comes out")
        precondition(decompressed(bytes, limit, &inflater) == message, "nothing is left of the message before")
        guard !message.isEmpty else { continue }
        var deflater = Deflater(windowBits: 9)
        let payload = deflater.compress(message.span)
        precondition(decompressed(payload.span, limit, &inflater) == message, "the message survives")
    }
}

/// The message; `nil`: the payload is refused, which is a fine answer.
private func decompressed(_ payload: Span<UInt8>, _ limit: Int, _ inflater: inout Inflater) -> [UInt8]? {
    try? inflater.decompress(payload, limit: limit)
}
