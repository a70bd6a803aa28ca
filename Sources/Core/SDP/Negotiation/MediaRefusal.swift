/// Why the gateway cannot carry an m-line of a peer; prints as the end of a sentence about that m-line.
package enum MediaRefusal: Equatable, Sendable {
    /// Port 0: the peer itself rejected or disabled it.
    case disabledByPeer
    /// Neither audio nor video.
    case unsupportedKind(String)
    /// Not RTP over DTLS-SRTP.
    case unsupportedProtocol(String)
    /// Keys would travel in the description (`a=crypto`, RFC 4568), which WebRTC forbids (RFC 8827 §6.5).
    case keysInDescription
    /// None at all, or none with a hash function that counts (`Fingerprint`).
    case noFingerprint
    case noICECredentials
    /// `a=setup` is missing from an answer, or says `holdconn`, or `actpass` in an answer.
    case unusableSetup
    /// The gateway has one port for RTP and RTCP (RFC 5761).
    case noRTCPMultiplexing
    /// No format that media could be made of.
    case noCodecs
    /// None of the codecs that the client wants is in its description (`MediaPreferences`).
    case noChosenCodecs([String])
    /// An answer has none of the formats that it was offered.
    case noOfferedCodecs
    /// It would need a transport of its own (RFC 9143): there are as many as a leg may have, or none was offered for
    /// it.
    case outsideBundle
    /// Its formats have payload types that mean other formats on an m-line before it.
    case ambiguousPayloadTypes
}

extension MediaRefusal: CustomStringConvertible {
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
