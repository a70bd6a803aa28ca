package import Primitives

/// SR (RFC 3550 §6.4.1); profile-specific extensions are skipped.
package struct SenderReport: Hashable, Sendable {
    package var ssrc: SSRC
    package var ntp: NTPTimestamp
    /// The same moment on the stream's own clock.
    package var timestamp: RTPTimestamp
    package var packetCount: UInt32
    package var octetCount: UInt32
    /// At most 31.
    package var blocks: [ReportBlock]

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
