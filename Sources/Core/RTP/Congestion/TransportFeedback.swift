package import Primitives

/// Transport-wide congestion control feedback: which packets of a whole transport arrived, and when
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
    /// The unit of arrival times.
    package static let tick = Duration.microseconds(250)
    /// Ticks in the unit of the reference time, which is 64 ms.
    package static let ticksPerReference: Int64 = 256
    /// The most packets of one feedback. A longer list is refused, because no sender keeps so many packets.
    package static let maximumStatuses = 8_192

    /// The SSRC of the receiver that sends the feedback.
    package var sender: SSRC
    /// The SSRC of one of the streams that the feedback is about.
    package var media: SSRC
    /// The transport-wide sequence number of the first packet.
    package var base: SequenceNumber
    /// The reference time, 24 bits, signed: units of 64 ms on a clock that the receiver chooses.
    package var reference: Int32
    /// The number of this feedback among those of the transport, modulo 256, by which losses of feedback are noticed.
    package var count: UInt8
    /// One element per packet, from `base` on: ticks since the previous packet that arrived, or since `reference` for
    /// the first one; `nil` for a packet that has not arrived.
    package var deltas: [Int16?]

    /// Makes a feedback of its parts; each parameter is the property of that name.
    ///
    /// - Parameter deltas: 1…`maximumStatuses` elements by the time it is written.
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
            // Zeros without the padding bit: in RFC 3550, padding is whole words.
            let surplus = (writer.count - start) % 4
            if surplus != 0 { writer.writeZeros(4 - surplus) }
        }
    }
}
