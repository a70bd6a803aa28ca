package import Primitives

/// The report of a receiver about one source (RFC 3550 §6.4.1).
package struct ReportBlock: Hashable, Sendable {
    static let length = 24

    /// The source that the report is about.
    package var ssrc: SSRC
    /// The fraction of packets lost since the previous report, in 1/256.
    package var fractionLost: UInt8
    /// Packets lost since the start of the stream, −8,388,608 … 8,388,607; negative if duplicates outnumber losses.
    package var cumulativeLost: Int32
    /// The highest sequence number received, with the number of its cycles in the upper 16 bits.
    package var extendedHighestSequence: UInt32
    /// The interarrival jitter, in ticks of the RTP clock.
    package var jitter: UInt32
    /// LSR: the middle 32 bits of the NTP timestamp of the last sender report; 0 if none has been received.
    package var lastSenderReport: UInt32
    /// DLSR: the delay since that report was received, in 1/65,536 s.
    package var delaySinceLastSenderReport: UInt32

    /// Makes a block of its parts; each parameter is the property of that name, and 0 unless given.
    package init(
        ssrc: SSRC, fractionLost: UInt8 = 0, cumulativeLost: Int32 = 0, extendedHighestSequence: UInt32 = 0,
        jitter: UInt32 = 0,
        lastSenderReport: UInt32 = 0, delaySinceLastSenderReport: UInt32 = 0
    ) {
        self.ssrc = ssrc
        self.fractionLost = fractionLost
        self.cumulativeLost = cumulativeLost
        self.extendedHighestSequence = extendedHighestSequence
        self.jitter = jitter
        self.lastSenderReport = lastSenderReport
        self.delaySinceLastSenderReport = delaySinceLastSenderReport
    }

    init?(reading reader: inout ByteReader) {
        guard let ssrc = reader.readUInt32(), let fraction = reader.readUInt8(), let lost = reader.readUInt24(),
            let highest = reader.readUInt32(), let jitter = reader.readUInt32(), let lsr = reader.readUInt32(),
            let dlsr = reader.readUInt32()
        else { return nil }
        // 24 bits, signed.
        let cumulative = Int32(bitPattern: lost << 8) >> 8
        self.init(
            ssrc: SSRC(ssrc), fractionLost: fraction, cumulativeLost: cumulative, extendedHighestSequence: highest,
            jitter: jitter,
            lastSenderReport: lsr, delaySinceLastSenderReport: dlsr)
    }

    static func list(reading reader: inout ByteReader, count: Int) -> [ReportBlock]? {
        var blocks: [ReportBlock] = []
        blocks.reserveCapacity(count)
        for _ in 0..<count {
            guard let block = ReportBlock(reading: &reader) else { return nil }
            blocks.append(block)
        }
        return blocks
    }

    func write(to writer: inout ByteWriter) {
        writer.write(ssrc.rawValue)
        writer.write(fractionLost)
        writer.writeUInt24(UInt32(bitPattern: cumulativeLost))
        writer.write(extendedHighestSequence)
        writer.write(jitter)
        writer.write(lastSenderReport)
        writer.write(delaySinceLastSenderReport)
    }
}
