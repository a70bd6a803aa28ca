import RTP
import SDP

extension ExtensionNumbering {
    /// From the ids of a sender's m-line to those of a receiver's, by what they stand for (RFC 8285 §5).
    ///
    /// Legs that were negotiated together have the same ids, and nothing is to be done for a packet. Legs that were brought together
    /// later have what each agreed on with whoever was there before.
    init(from sender: BridgeLine, to receiver: BridgeLine) {
        let pairs = sender.extensions.filter {
            $0.direction.receives && $0.uri != HeaderExtension.transportSequenceNumber
        }.map { sent in
            (from: sent.id, to: Self.passes(sent, from: sender, to: receiver) ? receiver.id(of: sent.uri) : 0)
        }
        self = pairs.allSatisfy { $0.from == $0.to } ? .identity : ExtensionNumbering(pairs)
    }

    /// A mid of another description would name no m-line, or the wrong one; the receiver knows our SSRC without it.
    private static func passes(_ sent: HeaderExtension, from sender: BridgeLine, to receiver: BridgeLine) -> Bool {
        sent.uri != HeaderExtension.mediaIdentification || sender.mid == receiver.mid
    }
}

extension BridgeLine {
    /// 0 if this peer does not take the extension from us.
    fileprivate func id(of uri: String) -> UInt8 { extensions.first { $0.uri == uri && $0.direction.sends }?.id ?? 0 }
}

extension HeaderExtension {
    /// The element that names the m-line of a packet (RFC 9143 §15).
    static let mediaIdentification = "urn:ietf:params:rtp-hdrext:sdes:mid"
}
