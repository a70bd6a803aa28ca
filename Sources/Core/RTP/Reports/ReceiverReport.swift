package import Primitives

/// RR (RFC 3550 §6.4.2). Profile-specific extensions are ignored.
package struct ReceiverReport: Hashable, Sendable {
    /// The SSRC of the receiver that sends the report.
    package var ssrc: SSRC
    /// A block for each source that is reported on, at most 31.
    package var blocks: [ReportBlock]

    /// Makes a report of its parts, without blocks unless given.
    package init(ssrc: SSRC, blocks: [ReportBlock] = []) {
        self.ssrc = ssrc
        self.blocks = blocks
    }

    init?(reading reader: inout ByteReader, blocks count: Int) {
        guard let ssrc = reader.readUInt32(), let blocks = ReportBlock.list(reading: &reader, count: count) else {
            return nil
        }
        self.init(ssrc: SSRC(ssrc), blocks: blocks)
    }

    func write(to writer: inout ByteWriter) {
        precondition(blocks.count <= 31, "a report has room for 31 blocks")
        writer.writeRTCP(type: RTCPType.receiverReport, format: blocks.count) { writer in
            writer.write(ssrc.rawValue)
            for block in blocks { block.write(to: &writer) }
        }
    }
}
