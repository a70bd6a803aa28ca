package import Primitives

/// PLI (RFC 4585 §6.3.1): the decoder of `media` needs a picture it can start from.
package struct PictureLossIndication: Hashable, Sendable {
    package var sender: SSRC
    package var media: SSRC

    package init(sender: SSRC, media: SSRC) {
        self.sender = sender
        self.media = media
    }

    init?(reading reader: inout ByteReader) {
        guard let sender = reader.readUInt32(), let media = reader.readUInt32() else { return nil }
        self.init(sender: SSRC(sender), media: SSRC(media))
    }

    func write(to writer: inout ByteWriter) {
        writer.writeRTCP(type: RTCPType.payloadFeedback, format: Int(FeedbackFormat.pictureLossIndication)) { writer in
            writer.write(sender.rawValue)
            writer.write(media.rawValue)
        }
    }
}
