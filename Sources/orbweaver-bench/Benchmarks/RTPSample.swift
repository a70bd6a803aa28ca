import Primitives

/// RTP packets to relay: a fixed header with a running sequence number, as many bytes as asked for.
enum RTPSample {
    static func packet(sequence: UInt16, size: Int) -> [UInt8] {
        var writer = ByteWriter(reserving: size)
        writer.write(UInt8(0x80))
        writer.write(UInt8(0))
        writer.write(sequence)
        writer.write(UInt32(sequence) &* 160)
        writer.write(UInt32(0xAABB_CCDD))
        writer.writeZeros(size - 12)
        return writer.bytes
    }
}
