import Primitives

/// One m-line of a peer, as read.
package struct PeerMedia: Equatable, Sendable {
    /// The place of the m-line in the description, from 0.
    package var index: Int
    /// `a=mid` (RFC 5888 §4), or a made-up one if the peer wrote none.
    package var mid: String
    /// Whether the peer wrote the mid itself. Only then is it written in descriptions for that peer.
    package var namesMid: Bool
    /// The media type of the m-line.
    package var kind: MediaKind
    /// The port of the m-line; 0 if it is rejected, or hidden behind `a=bundle-only`.
    package var port: UInt16
    /// The protocol of the m-line as written, for example `UDP/TLS/RTP/SAVPF` (RFC 8866 §5.14).
    package var transportProtocol: String
    /// The formats of the m-line as written; payload types for RTP.
    package var formats: [String]
    /// Why the gateway cannot carry the m-line; `nil` if it can.
    package var refusal: MediaRefusal?
    /// Whether there is `a=bundle-only` (RFC 9143 §6).
    package var isBundleOnly: Bool
    /// The direction as the peer sees it; `sendrecv` if neither the m-line nor the session level says another. A hold
    /// by address is already in it.
    package var direction: MediaDirection
    /// The formats whose encoding is known, in the order of preference.
    package var codecs: [Codec]
    /// The header extensions of the m-line, with those of the session level.
    package var extensions: [HeaderExtension]
    /// Whether there is `a=extmap-allow-mixed` at either level (RFC 8285 §6).
    package var allowsMixedExtensions: Bool
    /// Whether there is `a=rtcp-rsize` (RFC 5506 §5).
    package var allowsReducedSizeRTCP: Bool
    /// The `b=` lines of the m-line.
    package var bandwidths: [Bandwidth]
    /// `a=ptime` in milliseconds (RFC 8866 §6.4), as written; `nil` if it is missing.
    package var packetTime: String?
    /// `a=maxptime` in milliseconds (RFC 8866 §6.4), as written; `nil` if it is missing.
    package var maximumPacketTime: String?
    /// The announced sources, each with its retransmission source (RFC 5576); empty if none is announced.
    package var sources: [AnnouncedSource]
    /// The canonical name of the first source that has one; `nil` if none has.
    package var canonicalName: String?
    /// The value of the first `a=msid` (RFC 8830 §2), or of the older form below `a=ssrc`; `nil` if there is neither.
    package var streamID: String?
    /// The ICE and DTLS attributes that hold for the m-line; those of its BUNDLE group are filled in.
    package var transport: PeerTransport

    /// Whether the peer rejected or disabled the m-line: port 0 without being hidden behind `a=bundle-only`.
    package var isRejected: Bool { refusal == .disabledByPeer }
}

extension PeerMedia {
    /// Makes an m-line that the peer's description lacks. It counts like one with port 0.
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
