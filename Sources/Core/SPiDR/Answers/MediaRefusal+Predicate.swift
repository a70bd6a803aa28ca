import SDP

extension MediaRefusal {
    /// The end of a sentence whose subject is the m-line.
    var predicate: String {
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
