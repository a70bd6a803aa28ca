/// Why the gateway cannot carry an m-line of a peer. A dialect makes the sentence for the author of the description.
package enum MediaRefusal: Equatable, Sendable {
    /// Port 0: the peer itself rejected or disabled the m-line.
    case disabledByPeer
    /// The media type, given here, is neither audio nor video.
    case unsupportedKind(String)
    /// The protocol, given here, is not RTP over DTLS-SRTP.
    case unsupportedProtocol(String)
    /// The keys would be in the description (`a=crypto`, RFC 4568), which WebRTC forbids (RFC 8827 §6.5).
    case keysInDescription
    /// There is no fingerprint, or none with a supported hash function (`Fingerprint`).
    case noFingerprint
    /// `a=ice-ufrag` or `a=ice-pwd` is missing.
    case noICECredentials
    /// `a=setup` is `holdconn`; or, in an answer, it is missing or `actpass`.
    case unusableSetup
    /// `a=rtcp-mux` is missing; the gateway has one port for RTP and RTCP (RFC 5761).
    case noRTCPMultiplexing
    /// There is no format that carries media.
    case noCodecs
    /// The description has none of the codecs that the client wants, whose names are given here (`MediaPreferences`).
    case noChosenCodecs([String])
    /// The answer has none of the offered formats.
    case noOfferedCodecs
    /// The m-line would need a transport of its own (RFC 9143), but the leg has as many as it may have, or none was
    /// offered for the m-line.
    case outsideBundle
    /// The payload types of all its formats mean other formats on an m-line before it.
    case ambiguousPayloadTypes
}
