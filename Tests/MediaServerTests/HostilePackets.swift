import Primitives

/// Packets that no honest peer sends.
enum HostilePackets {
    /// A ClientHello that offers TLS_RSA_WITH_NULL_MD5 only, the one of the race in CVE-2023-49786.
    static func clientHelloWithoutCiphers() -> [UInt8] {
        var body = ByteWriter()
        body.write(UInt16(0xFEFD))
        body.write([UInt8](repeating: 0xAB, count: 32))
        body.write([0, 0])  // no session, no cookie
        body.write(UInt16(2))
        body.write(UInt16(0x0001))
        body.write([1, 0])  // no compression
        return handshake(type: 1, sequence: 0, length: body.count, offset: 0, fragment: body.bytes)
    }

    /// A DTLS record in the clear with one handshake fragment (RFC 6347 §4.2.2), whatever it claims.
    static func handshake(
        type: UInt8, sequence: UInt16, length: Int, offset: Int, fragment: [UInt8], claiming count: Int? = nil,
        record number: UInt64 = 0
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(UInt8(22))
        writer.write(UInt16(0xFEFD))
        writer.write(number & 0xFFFF_FFFF_FFFF)  // epoch 0 above 48 bits of record number
        writer.write(UInt16(12 + fragment.count))
        writer.write(type)
        writer.writeUInt24(UInt32(length))
        writer.write(sequence)
        writer.writeUInt24(UInt32(offset))
        writer.writeUInt24(UInt32(count ?? fragment.count))
        writer.write(fragment)
        return writer.bytes
    }

    /// Data in the clear, as if the handshake were over.
    static let plainApplicationData: [UInt8] = [23, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 4, 1, 2, 3, 4]

    /// An RTP header with these fields and nothing behind them unless given.
    static func rtp(first: UInt8, rest: [UInt8]) -> [UInt8] {
        [first, 0, 0x03, 0xE0, 0, 0, 0, 0, 0, 0, 0xAA, 0xAA] + rest
    }

    /// RTCP BYE for one source, with a reason that is longer than the packet (CVE-2021-43804).
    static func bye(_ source: SSRC) -> [UInt8] {
        var writer = ByteWriter()
        writer.write([0x81, 203])
        writer.write(UInt16(2))
        writer.write(source.rawValue)
        writer.write([255, 1, 2, 3])
        return writer.bytes
    }

    /// A receiver report that asks for nothing and blames the gateway for everything.
    static func receiverReport(by reporter: UInt32, on source: SSRC) -> [UInt8] {
        var writer = ByteWriter()
        writer.write([0x81, 201])
        writer.write(UInt16(7))
        writer.write(reporter)
        writer.write(source.rawValue)
        writer.write([UInt8](repeating: 0xFF, count: 20))
        return writer.bytes
    }

    /// Binding requests whose attributes lie about their length, or end too early.
    static func malformedChecks() -> [[UInt8]] {
        let header: [UInt8] = [0, 1, 0, 8, 0x21, 0x12, 0xA4, 0x42] + [UInt8](repeating: 7, count: 12)
        return [
            header + [0, 6, 0xFF, 0xFF, 1, 2, 3, 4],  // USERNAME of 65,535 bytes
            header + [0x7F, 0xFF, 0, 200, 1, 2, 3, 4],  // an unknown one (CVE-2022-23537)
            header + [0, 9, 0, 1, 1, 2, 3, 4],  // ERROR-CODE that is shorter than its fixed part (CVE-2021-37706)
            Array(header.prefix(19)), Array(header.prefix(8)),
        ]
    }
}
