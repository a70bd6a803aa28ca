/// Why the gateway cannot carry an m-line of a peer. It prints as the end of a sentence about that m-line.
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

extension MediaRefusal: CustomStringConvertible {
    /// The end of a sentence whose subject is the m-line, for error messages.
    package var description: String {
        switch self {
        case .disabledByPeer: "is disabled (port 0)"
        case .unsupportedKind(let kind): "is \(kind.prefix(32)), which is neither audio nor video"
        case .unsupportedProtocol(let name): "uses \(name.prefix(32)) instead of UDP/TLS/RTP/SAVPF"
        case .keysInDescription: "offers SDES keys (a=crypto) only; the gateway needs DTLS-SRTP (a=fingerprint)"
        case .noFingerprint:
            "has no a=fingerprint of SHA-224 or a longer SHA-2 hash, which DTLS-SRTP needs (SHA-1 and MD5 do not count)"
        case .noICECredentials: "has no a=ice-ufrag and a=ice-pwd"
        case .unusableSetup: "has no usable a=setup"
        case .noRTCPMultiplexing: "lacks a=rtcp-mux, which the gateway requires"
        case .noCodecs: "has no codec that carries media"
        case .noChosenCodecs(let names): "has none of the codecs that are asked for: \(names.joined(separator: ", "))"
        case .noOfferedCodecs: "accepts none of the codecs that were offered"
        case .outsideBundle: "is outside the BUNDLE group, and there is no other transport for it"
        case .ambiguousPayloadTypes: "has only payload types that mean other formats on m-lines before it"
        }
    }
}
