/// The CRC-32 of ITU-T V.42 and Ethernet, as FINGERPRINT uses it (RFC 8489 §14.7).
enum CRC32 {
    static func checksum(of bytes: Span<UInt8>) -> UInt32 {
        var remainder = UInt32.max
        for index in bytes.indices {
            remainder = remainder >> 8 ^ table[Int((remainder ^ UInt32(bytes[index])) & 0xFF)]
        }
        return ~remainder
    }

    /// The remainder of each byte value for the reflected polynomial 0x04C11DB7.
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { remainder, _ in
            remainder & 1 == 1 ? remainder >> 1 ^ 0xEDB8_8320 : remainder >> 1
        }
    }
}
