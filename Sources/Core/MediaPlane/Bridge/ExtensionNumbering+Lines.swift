import RTP
import SDP

extension ExtensionNumbering {
    /// The mapping from the extension ids of a sender's m-line to those of a receiver's, by URI (RFC 8285 §5).
    ///
    /// Legs that were negotiated together have the same ids, and packets need no change. Legs that were joined later
    /// have the ids that each agreed on with its former counterpart.
    init(from sender: BridgeLine, to receiver: BridgeLine) {
        let pairs = sender.extensions.filter {
            $0.direction.receives && $0.uri != HeaderExtension.transportSequenceNumber
        }.map { sent in
            (from: sent.id, to: Self.passes(sent, from: sender, to: receiver) ? receiver.id(of: sent.uri) : 0)
        }
        self = pairs.allSatisfy { $0.from == $0.to } ? .identity : ExtensionNumbering(pairs)
    }

    /// Whether an extension passes. A mid of another description would name no m-line or a wrong one; the receiver
    /// knows the gateway's SSRC without it.
    private static func passes(_ sent: HeaderExtension, from sender: BridgeLine, to receiver: BridgeLine) -> Bool {
        sent.uri != HeaderExtension.mediaIdentification || sender.mid == receiver.mid
    }
}

extension BridgeLine {
    /// The id of the extension in packets to this peer; 0 if the peer does not take it from the gateway.
    func id(of uri: String) -> UInt8 { extensions.first { $0.uri == uri && $0.direction.sends }?.id ?? 0 }
}

extension HeaderExtension {
    /// The URI of the element that names the m-line of a packet (RFC 9143 §15).
    static let mediaIdentification = "urn:ietf:params:rtp-hdrext:sdes:mid"
}
