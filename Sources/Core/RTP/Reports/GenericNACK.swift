package import Primitives

/// Generic NACK (RFC 4585 §6.2.1): packets of one source that have not arrived.
package struct GenericNACK: Hashable, Sendable {
    /// A lost packet, and a bitmask of lost packets among the sixteen after it.
    package struct Entry: Hashable, Sendable {
        /// The packet ID (PID): the sequence number of a lost packet.
        package var packet: SequenceNumber
        /// The bitmask of following lost packets (BLP): bit *i* stands for `packet + i + 1`.
        package var following: UInt16

        /// Makes an entry of its parts.
        package init(packet: SequenceNumber, following: UInt16) {
            self.packet = packet
            self.following = following
        }
    }

    /// The SSRC of the receiver that sends the NACK.
    package var sender: SSRC
    /// The SSRC of the stream with the lost packets.
    package var media: SSRC
    /// The lost packets, packed; at least one entry in a packet that was parsed.
    package var entries: [Entry]

    /// Makes a NACK of its parts; each parameter is the property of that name.
    package init(sender: SSRC, media: SSRC, entries: [Entry]) {
        self.sender = sender
        self.media = media
        self.entries = entries
    }

    /// Makes a NACK for sequence numbers in ascending order, packed into as few entries as possible.
    package init(sender: SSRC, media: SSRC, lost: [SequenceNumber]) {
        self.init(sender: sender, media: media, entries: [])
        for number in lost {
            if let last = entries.last, (1...16).contains(number - last.packet) {
                entries[entries.count - 1].following |= 1 << UInt16(number - last.packet - 1)
            } else if entries.last?.packet != number {
                entries.append(Entry(packet: number, following: 0))
            }
        }
    }

    /// The sequence numbers of all lost packets, in the order of the entries.
    package var lost: [SequenceNumber] {
        var numbers: [SequenceNumber] = []
        for entry in entries {
            numbers.append(entry.packet)
            for bit in 0..<16 where entry.following & (1 << UInt16(bit)) != 0 {
                numbers.append(entry.packet + (bit + 1))
            }
        }
        return numbers
    }

    init?(reading reader: inout ByteReader) {
        guard let sender = reader.readUInt32(), let media = reader.readUInt32() else { return nil }
        self.init(sender: SSRC(sender), media: SSRC(media), entries: [])
        guard reader.remaining > 0, reader.remaining.isMultiple(of: 4) else { return nil }
        while let packet = reader.readUInt16(), let following = reader.readUInt16() {
            entries.append(Entry(packet: SequenceNumber(packet), following: following))
        }
    }

    func write(to writer: inout ByteWriter) {
        writer.writeRTCP(type: RTCPType.transportFeedback, format: Int(FeedbackFormat.genericNACK)) { writer in
            writer.write(sender.rawValue)
            writer.write(media.rawValue)
            for entry in entries {
                writer.write(entry.packet.rawValue)
                writer.write(entry.following)
            }
        }
    }
}
