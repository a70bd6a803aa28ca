package import Primitives

/// FIR (RFC 5104 §4.3.1): a command to send a decoder refresh point, which a PLI only suggests.
package struct FullIntraRequest: Hashable, Sendable {
    /// A command to one source.
    package struct Entry: Hashable, Sendable {
        /// The source of media that is to send the refresh point.
        package var ssrc: SSRC
        /// The sequence number of the command. It counts the commands of one sender to one source, and a repetition
        /// keeps its number (RFC 5104 §4.3.1.1).
        package var commandNumber: UInt8

        /// Makes a command of its parts.
        package init(ssrc: SSRC, commandNumber: UInt8) {
            self.ssrc = ssrc
            self.commandNumber = commandNumber
        }
    }

    /// The SSRC of the receiver that sends the FIR.
    package var sender: SSRC
    /// The commands, at least one in a packet that was parsed.
    package var entries: [Entry]

    /// Makes a FIR of its parts.
    package init(sender: SSRC, entries: [Entry]) {
        self.sender = sender
        self.entries = entries
    }

    init?(reading reader: inout ByteReader) {
        // The media source of the common header is not used; each entry names its own source (RFC 5104 §4.3.1.2).
        guard let sender = reader.readUInt32(), reader.skip(4) else { return nil }
        self.init(sender: SSRC(sender), entries: [])
        guard reader.remaining > 0, reader.remaining.isMultiple(of: 8) else { return nil }
        while let ssrc = reader.readUInt32(), let number = reader.readUInt8(), reader.skip(3) {
            entries.append(Entry(ssrc: SSRC(ssrc), commandNumber: number))
        }
    }

    func write(to writer: inout ByteWriter) {
        writer.writeRTCP(type: RTCPType.payloadFeedback, format: Int(FeedbackFormat.fullIntraRequest)) { writer in
            writer.write(sender.rawValue)
            writer.write(UInt32(0))
            for entry in entries {
                writer.write(entry.ssrc.rawValue)
                writer.write(entry.commandNumber)
                writer.writeUInt24(0)
            }
        }
    }
}
