import Primitives

/// One m-line of a peer.
package struct PeerMedia: Equatable, Sendable {
    /// Its place among the m-lines, from 0.
    package var index: Int
    /// `a=mid` (RFC 5888 §4), or a made-up one if the peer names none.
    package var mid: String
    /// Whether the peer wrote the mid itself; only then it is repeated to that peer.
    package var namesMid: Bool
    package var kind: MediaKind
    package var port: UInt16
    package var transportProtocol: String
    package var formats: [String]
    /// `nil` when the gateway can carry the m-line.
    package var refusal: MediaRefusal?
    /// `a=bundle-only` (RFC 9143 §6)
    package var isBundleOnly: Bool
    package var direction: MediaDirection
    /// Formats whose meaning is known, in the order of preference.
    package var codecs: [Codec]
    package var extensions: [HeaderExtension]
    /// `a=extmap-allow-mixed` at either level (RFC 8285 §6)
    package var allowsMixedExtensions: Bool
    /// `a=rtcp-rsize` (RFC 5506 §5)
    package var allowsReducedSizeRTCP: Bool
    package var bandwidths: [Bandwidth]
    /// `a=ptime` and `a=maxptime` in milliseconds (RFC 8866 §6.4), as written.
    package var packetTime: String?
    package var maximumPacketTime: String?
    /// Announced sources, retransmissions folded into theirs (RFC 5576).
    package var sources: [AnnouncedSource]
    /// The canonical name of the first source that has one.
    package var canonicalName: String?
    /// The value of the first `a=msid` (RFC 8830 §2), or of the older form below `a=ssrc`.
    package var streamID: String?
    package var transport: PeerTransport

    /// Port 0, and not merely hidden behind `a=bundle-only`.
    package var isRejected: Bool { refusal == .disabledByPeer }
}

extension PeerMedia {
    /// An m-line about which the peer says nothing: as good as one with port 0.
    init(vacantAt index: Int, mid: String, kind: MediaKind, codecs: [Codec]) {
        self.init(
            index: index, mid: mid, namesMid: true, kind: kind, port: 0, transportProtocol: "UDP/TLS/RTP/SAVPF",
            formats: codecs.isEmpty ? ["0"] : codecs.map { String($0.payloadType.rawValue) }, refusal: .disabledByPeer,
            isBundleOnly: false,
            direction: .inactive, codecs: codecs, extensions: [], allowsMixedExtensions: false,
            allowsReducedSizeRTCP: false, bandwidths: [],
            sources: [], transport: PeerTransport())
    }
}
