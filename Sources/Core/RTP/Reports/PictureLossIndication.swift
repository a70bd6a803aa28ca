package import Primitives

/// PLI (RFC 4585 §6.3.1): the decoder of `media` needs a picture that it can start from.
package struct PictureLossIndication: Hashable, Sendable {
    /// The SSRC of the receiver that sends the PLI.
    package var sender: SSRC
    /// The SSRC of the video stream.
    package var media: SSRC

    /// Makes a PLI of its parts.
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
