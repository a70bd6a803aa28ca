/// What a peer said, read and typed: the meaning of a `SessionDescription` to the gateway.
///
/// Attributes that may stand at either level are resolved per m-line, transport attributes of bundled m-lines
/// come from the tagged one (RFC 9143 §7.1.3), and each m-line says whether and why not the gateway can carry it.
package struct PeerDescription: Equatable, Sendable {
    package enum Role: Equatable, Sendable {
        case offer
        case answer
    }

    package var role: Role
    /// `a=ice-lite` (RFC 8839 §5.3)
    package var isLite: Bool
    /// The m-lines of the BUNDLE group that the gateway takes part in, by index, tagged m-line first; empty without one.
    package var bundle: [Int]
    /// One entry per m-line.
    package var media: [PeerMedia]

    /// The m-line whose transport serves the leg: the first usable one, in the order of the group (RFC 9143 §7.3.1).
    package var transportMedia: PeerMedia? {
        let candidates = bundle.isEmpty ? Array(media.indices) : bundle
        return candidates.lazy.map { media[$0] }.first { $0.refusal == nil }
    }

    /// The m-lines the gateway can carry.
    package var usableMedia: [PeerMedia] { media.filter { $0.refusal == nil } }
}

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

/// The transport attributes of an m-line, its own or those of its BUNDLE group.
package struct PeerTransport: Equatable, Sendable {
    package var credentials: ICECredentials?
    package var fingerprints: [Fingerprint] = []
    package var setup: SetupRole?
    /// Values of `a=candidate`, unread: a lite agent learns addresses from checks (RFC 8445 §7.3).
    package var candidates: [String] = []
    /// `a=end-of-candidates` (RFC 8840 §8.2)
    package var hasAllCandidates = false
    /// `a=ice-options:trickle` (RFC 8840 §4.1)
    package var tricklesCandidates = false
    /// `a=rtcp-mux` (RFC 5761 §5.1.1) or `a=rtcp-mux-only` (RFC 8858 §3)
    package var multiplexesRTCP = false
    /// `a=crypto` (RFC 4568), only to tell the peer what is wrong.
    package var offersSDESKeys = false
}
