package import Primitives

/// SR (RFC 3550 §6.4.1). Profile-specific extensions are ignored.
package struct SenderReport: Hashable, Sendable {
    /// The SSRC of the stream that the report describes.
    package var ssrc: SSRC
    /// The wall-clock time of the report.
    package var ntp: NTPTimestamp
    /// The same time on the RTP clock of the stream.
    package var timestamp: RTPTimestamp
    /// RTP packets sent since the start of the stream, modulo 2³².
    package var packetCount: UInt32
    /// Payload bytes sent since the start of the stream, without headers and padding, modulo 2³².
    package var octetCount: UInt32
    /// A block for each source that is reported on, at most 31.
    package var blocks: [ReportBlock]

    /// Makes a report of its parts, without blocks unless given; each parameter is the property of that name.
    package init(
        ssrc: SSRC, ntp: NTPTimestamp, timestamp: RTPTimestamp, packetCount: UInt32, octetCount: UInt32,
        blocks: [ReportBlock] = []
    ) {
        self.ssrc = ssrc
        self.ntp = ntp
        self.timestamp = timestamp
        self.packetCount = packetCount
        self.octetCount = octetCount
        self.blocks = blocks
    }

    init?(reading reader: inout ByteReader, blocks count: Int) {
        guard let ssrc = reader.readUInt32(), let ntp = reader.readUInt64(), let timestamp = reader.readUInt32(),
            let packets = reader.readUInt32(), let octets = reader.readUInt32(),
            let blocks = ReportBlock.list(reading: &reader, count: count)
        else { return nil }
        self.init(
            ssrc: SSRC(ssrc), ntp: NTPTimestamp(ntp), timestamp: RTPTimestamp(timestamp), packetCount: packets,
            octetCount: octets,
            blocks: blocks)
    }

    func write(to writer: inout ByteWriter) {
        precondition(blocks.count <= 31, "a report has room for 31 blocks")
        writer.writeRTCP(type: RTCPType.senderReport, format: blocks.count) { writer in
            writer.write(ssrc.rawValue)
            writer.write(ntp.rawValue)
            writer.write(timestamp.rawValue)
            writer.write(packetCount)
            writer.write(octetCount)
            for block in blocks { block.write(to: &writer) }
        }
    }
}
