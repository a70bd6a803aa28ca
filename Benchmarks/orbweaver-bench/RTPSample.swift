import Primitives

/// RTP packets to relay: a fixed header with a running sequence number, as many bytes as asked for.
enum RTPSample {
    /// - Parameters:
    ///   - payloadType: 0 ... 127.
    ///   - size: Bytes, with the header; at least 12.
    static func packet(sequence: UInt16, size: Int, payloadType: UInt8 = 0) -> [UInt8] {
        var writer = ByteWriter(reserving: size)
        writer.write(UInt8(0x80))
        writer.write(payloadType)
        writer.write(sequence)
        writer.write(UInt32(sequence) &* 160)
        writer.write(UInt32(0xAABB_CCDD))
        writer.writeZeros(size - 12)
        return writer.bytes
    }
}
