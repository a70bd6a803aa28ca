package import Primitives

/// REMB (draft-alvestrand-rmcat-remb-03 §2.2): what the receiver believes the path carries for these sources together.
package struct EstimatedMaximumBitrate: Hashable, Sendable {
    package var sender: SSRC
    package var bitsPerSecond: UInt64
    /// At most 255.
    package var sources: [SSRC]

    package init(sender: SSRC, bitsPerSecond: UInt64, sources: [SSRC]) {
        self.sender = sender
        self.bitsPerSecond = bitsPerSecond
        self.sources = sources
    }

    /// "REMB" in ASCII: tells it from other application layer feedback.
    private static let name: UInt32 = 0x5245_4D42
    private static let mantissaBits = 18

    static func isNamed(in body: Span<UInt8>) -> Bool {
        body.count >= 12 && body.bigEndian32(at: 8) == name
    }

    init?(reading reader: inout ByteReader) {
        guard let sender = reader.readUInt32(), reader.skip(8), let count = reader.readUInt8(),
            let rate = reader.readUInt24()
        else {
            return nil
        }
        let (exponent, mantissa) = (rate >> Self.mantissaBits, UInt64(rate & (1 << Self.mantissaBits - 1)))
        // Six bits of exponent say more than 64 bits hold.
        let fits = mantissa.leadingZeroBitCount >= Int(exponent)
        self.init(sender: SSRC(sender), bitsPerSecond: fits ? mantissa << exponent : .max, sources: [])
        for _ in 0..<count {
            guard let ssrc = reader.readUInt32() else { return nil }
            sources.append(SSRC(ssrc))
        }
    }

    /// Bits that the mantissa has no room for are cut off: the estimate is a ceiling and must not grow.
    func write(to writer: inout ByteWriter) {
        precondition(sources.count <= 255, "a REMB has room for 255 sources")
        let exponent = max(0, 64 - bitsPerSecond.leadingZeroBitCount - Self.mantissaBits)
        let mantissa = UInt32(bitsPerSecond >> UInt64(exponent))
        writer.writeRTCP(type: RTCPType.payloadFeedback, format: Int(FeedbackFormat.application)) { writer in
            writer.write(sender.rawValue)
            writer.write(UInt32(0))
            writer.write(Self.name)
            writer.write(UInt8(sources.count))
            writer.writeUInt24(UInt32(exponent) << Self.mantissaBits | mantissa)
            for source in sources { writer.write(source.rawValue) }
        }
    }
}
