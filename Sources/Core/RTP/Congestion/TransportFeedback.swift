package import Primitives

/// Transport-wide congestion control feedback: which packets of a whole transport came, and when
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1).
///
///      0                   1                   2                   3
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///     |V=2|P|  FMT=15 |    PT=205     |           length              |
///     |                     SSRC of packet sender                     |
///     |                      SSRC of media source                     |
///     |      base sequence number     |      packet status count      |
///     |                 reference time                | fb pkt. count |
///     |          packet chunk         |  …  |  recv delta  |  …  | 0 …|
package struct TransportFeedback: Hashable, Sendable {
    /// Arrival times count in these.
    package static let tick = Duration.microseconds(250)
    /// The reference time counts in so many ticks: 64 ms.
    package static let ticksPerReference: Int64 = 256
    /// A longer list is refused: it would say more of packets that did not come than any sender keeps.
    package static let maximumStatuses = 8_192

    package var sender: SSRC
    package var media: SSRC
    /// The transport-wide number of the first packet.
    package var base: SequenceNumber
    /// 24 bits, signed: 64 ms on a clock of the receiver's own choice.
    package var reference: Int32
    /// Counts the feedback of a transport, so that losses of it are noticed.
    package var count: UInt8
    /// One per packet, from `base` on: ticks since the packet before that came, of the first since `reference`; `nil` for a packet
    /// that did not come.
    package var deltas: [Int16?]

    /// - Parameter deltas: 1 … `maximumStatuses` of them.
    package init(sender: SSRC, media: SSRC, base: SequenceNumber, reference: Int32, count: UInt8, deltas: [Int16?]) {
        self.sender = sender
        self.media = media
        self.base = base
        self.reference = reference
        self.count = count
        self.deltas = deltas
    }

    // MARK: Reading

    init?(reading reader: inout ByteReader) {
        guard let sender = reader.readUInt32(), let media = reader.readUInt32(), let base = reader.readUInt16(),
            let statusCount = reader.readUInt16(), (1...Self.maximumStatuses).contains(Int(statusCount)),
            let reference = reader.readUInt24(), let count = reader.readUInt8(),
            let symbols = PacketStatus.list(reading: &reader, count: Int(statusCount))
        else { return nil }
        self.init(
            sender: SSRC(sender), media: SSRC(media), base: SequenceNumber(base),
            reference: Int32(bitPattern: reference << 8) >> 8,
            count: count, deltas: [])
        deltas.reserveCapacity(symbols.count)
        for symbol in symbols {
            switch symbol {
            case .missing: deltas.append(nil)
            case .small:
                guard let delta = reader.readUInt8() else { return nil }
                deltas.append(Int16(delta))
            case .large:
                guard let delta = reader.readUInt16() else { return nil }
                deltas.append(Int16(bitPattern: delta))
            }
        }
    }

    // MARK: Writing

    func write(to writer: inout ByteWriter) {
        precondition(
            (1...Self.maximumStatuses).contains(deltas.count), "feedback is about 1 to maximumStatuses packets")
        writer.writeRTCP(type: RTCPType.transportFeedback, format: Int(FeedbackFormat.transportWide)) { writer in
            let start = writer.count
            writer.write(sender.rawValue)
            writer.write(media.rawValue)
            writer.write(base.rawValue)
            writer.write(UInt16(deltas.count))
            writer.writeUInt24(UInt32(bitPattern: reference))
            writer.write(count)
            PacketStatus.write(deltas.map(PacketStatus.init), to: &writer)
            for case let delta? in deltas {
                if PacketStatus(delta) == .small {
                    writer.write(UInt8(delta))
                } else {
                    writer.write(UInt16(bitPattern: delta))
                }
            }
            // Plain zeros, without the padding bit: RFC 3550 knows only padding by whole words.
            let surplus = (writer.count - start) % 4
            if surplus != 0 { writer.writeZeros(4 - surplus) }
        }
    }
}
