package import Primitives

/// REMB (draft-alvestrand-rmcat-remb-03 §2.2): the receiver's estimate of the bit rate that the path carries for all
/// its sources together.
package struct EstimatedMaximumBitrate: Hashable, Sendable {
    /// The SSRC of the receiver that sends the REMB.
    package var sender: SSRC
    /// The estimate in bits per second.
    package var bitsPerSecond: UInt64
    /// The sources of media that the estimate applies to, at most 255.
    package var sources: [SSRC]

    /// Makes a REMB of its parts; each parameter is the property of that name.
    package init(sender: SSRC, bitsPerSecond: UInt64, sources: [SSRC]) {
        self.sender = sender
        self.bitsPerSecond = bitsPerSecond
        self.sources = sources
    }

    /// "REMB" in ASCII, which distinguishes it from other application layer feedback.
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
        // With an exponent of six bits, values can exceed 64 bits.
        let fits = mantissa.leadingZeroBitCount >= Int(exponent)
        self.init(sender: SSRC(sender), bitsPerSecond: fits ? mantissa << exponent : .max, sources: [])
        for _ in 0..<count {
            guard let ssrc = reader.readUInt32() else { return nil }
            sources.append(SSRC(ssrc))
        }
    }

    /// Excess bits of the mantissa are truncated: the estimate is an upper bound and must not grow by rounding.
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
