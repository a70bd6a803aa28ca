import Primitives

/// The SSRCs with which the gateway sends on an m-line. They are drawn once and kept in later descriptions.
struct LocalSources: Equatable, Sendable {
    var mid: String
    var kind: MediaKind
    var ssrc: SSRC
    var retransmission: SSRC
    /// Whether they have been in a description.
    var areAnnounced = false
}

/// One m-line of the gateway's description.
struct LocalMedia: Equatable, Sendable {
    var mid: String
    /// Whether `a=mid` is written. It is not written to a peer that offered without it.
    var namesMid: Bool
    var kind: MediaKind
    var transportProtocol: String
    /// The formats of a rejected m-line: those of the other side, without meaning (RFC 3264 §6).
    var rejectedFormats: [String]
    var isRejected: Bool
    var direction: MediaDirection
    var codecs: [Codec]
    /// The codecs of an offer that the gateway can decode.
    var decodable = PayloadTypeSet()
    var extensions: [HeaderExtension]
    var allowsMixedExtensions: Bool
    var allowsReducedSizeRTCP: Bool
    var bandwidths: [Bandwidth]
    var packetTime: String?
    var maximumPacketTime: String?
    var sources: LocalSources
    /// The transport of the m-line; in an offer, the answer can still change it.
    var transport = TransportNumber.first
    /// The gateway's credentials for a transport other than the first; `nil` if the m-line is to be bundled.
    var credentials: ICECredentials?
    var setup = SetupRole.actpass

    /// The retransmission source; `nil` if retransmissions are neither agreed nor offered.
    var retransmissionSSRC: SSRC? { codecs.contains(where: \.isRetransmission) ? sources.retransmission : nil }

    /// The gateway's m-line on behalf of the other leg's peer: a copy of `other` without what the relay cannot carry.
    init(mirroring other: PeerMedia, policy: MediaPolicy, transportProtocol: String, sources: LocalSources) {
        mid = other.mid
        namesMid = true
        kind = other.kind
        self.transportProtocol = transportProtocol
        rejectedFormats = other.formats
        codecs = other.kind.isRelayed ? policy.codecs(other.codecs, of: other.kind) : []
        isRejected = other.refusal != nil || !codecs.contains(where: \.carriesMedia)
        direction = other.direction
        extensions = policy.extensions(other.extensions)
        allowsMixedExtensions = other.allowsMixedExtensions
        allowsReducedSizeRTCP = other.allowsReducedSizeRTCP
        bandwidths = other.bandwidths
        packetTime = other.packetTime
        maximumPacketTime = other.maximumPacketTime
        self.sources = sources
    }

    /// Turns the m-line into a rejected one.
    mutating func reject() {
        isRejected = true
        direction = .inactive
    }

    /// The agreement on this m-line if it is the gateway's answer to `offer`.
    func agreement(answering offer: PeerMedia) -> NegotiatedMedia {
        var agreed = agreement(
            direction: direction, codecs: codecs, extensions: extensions, remoteSources: offer.sources)
        agreed.describedCodecs = codecs.map { $0.described(like: offer.codecs.codec(for: $0.payloadType)) }
        agreed.packetTime = offer.packetTimes
        return agreed
    }

    func agreement(
        direction: MediaDirection, codecs: [Codec], extensions: [HeaderExtension], remoteSources: [AnnouncedSource]
    ) -> NegotiatedMedia {
        var agreed = NegotiatedMedia(
            mid: mid, kind: kind, direction: isRejected ? .inactive : direction, isRejected: isRejected,
            codecs: isRejected ? [] : codecs,
            extensions: isRejected ? [] : extensions, remoteSources: isRejected ? [] : remoteSources,
            localSSRC: sources.ssrc,
            localRetransmissionSSRC: !isRejected && codecs.contains(where: \.isRetransmission)
                ? sources.retransmission : nil)
        agreed.transport = transport
        return agreed
    }
}
