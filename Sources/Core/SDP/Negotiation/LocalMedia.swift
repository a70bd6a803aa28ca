import Primitives

/// The SSRCs of an m-line that the gateway sends with; drawn once, kept from description to description.
struct LocalSources: Equatable, Sendable {
    var mid: String
    var kind: MediaKind
    var ssrc: SSRC
    var retransmission: SSRC
    /// They have been in a description.
    var areAnnounced = false
}

/// What the gateway says on one m-line.
struct LocalMedia: Equatable, Sendable {
    var mid: String
    /// Whether `a=mid` is written; not to a peer that offered without.
    var namesMid: Bool
    var kind: MediaKind
    var transportProtocol: String
    /// The formats of a rejected m-line: those of the other side, without meaning (RFC 3264 §6).
    var rejectedFormats: [String]
    var isRejected: Bool
    var direction: MediaDirection
    var codecs: [Codec]
    /// Those of the codecs of an offer that the gateway can decode.
    var decodable = PayloadTypeSet()
    var extensions: [HeaderExtension]
    var allowsMixedExtensions: Bool
    var allowsReducedSizeRTCP: Bool
    var bandwidths: [Bandwidth]
    var packetTime: String?
    var maximumPacketTime: String?
    var sources: LocalSources
    /// The transport that the m-line is on; in an offer it is yet to be seen.
    var transport = TransportNumber.first
    /// The gateway's credentials for a transport other than the first; `nil`: none, it is to be bundled.
    var credentials: ICECredentials?
    var setup = SetupRole.actpass

    /// The retransmission source, if retransmissions are agreed or offered.
    var retransmissionSSRC: SSRC? { codecs.contains(where: \.isRetransmission) ? sources.retransmission : nil }

    /// What the gateway says on behalf of the other leg's peer: `other` as it is, with what the relay cannot carry left out.
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

    /// Makes the m-line one that carries nothing.
    mutating func reject() {
        isRejected = true
        direction = .inactive
    }

    /// The agreement on this m-line once it is the gateway's answer to `offer`.
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
