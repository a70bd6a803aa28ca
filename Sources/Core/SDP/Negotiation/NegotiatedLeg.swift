package import Primitives

/// What offer and answer agreed for one leg: everything the media plane needs to serve that peer.
///
/// Built by `LegNegotiation` once both descriptions are known; consumed by the media plane and nobody else.
package struct NegotiatedLeg: Equatable, Sendable {
    /// The leg's first transport; every m-line of a peer that bundles is on it (RFC 9143).
    package var transport: NegotiatedTransport
    /// The other transports that m-lines are on, of a peer that does not bundle.
    package var furtherTransports: [TransportNumber: NegotiatedTransport] = [:]
    /// One entry per m-line, in m-line order, rejected ones included.
    package var media: [NegotiatedMedia]

    package init(transport: NegotiatedTransport, media: [NegotiatedMedia]) {
        self.transport = transport
        self.media = media
    }

    package func transport(_ number: TransportNumber) -> NegotiatedTransport? {
        number == .first ? transport : furtherTransports[number]
    }

    /// The transport whose fate is the leg's: that of the first audio m-line, or of the first m-line without audio.
    package var principalTransport: TransportNumber {
        let carried = media.filter { !$0.isRejected }
        return (carried.first { $0.kind == .audio } ?? carried.first)?.transport ?? .first
    }
}

/// ICE and DTLS parameters of both ends of a leg.
package struct NegotiatedTransport: Equatable, Sendable {
    /// What the gateway wrote into its own description.
    package var local: ICECredentials
    /// What the peer wrote.
    package var remote: ICECredentials
    /// `a=fingerprint` lines of the peer (RFC 8122 §5); one of them must match its certificate.
    package var remoteFingerprints: [Fingerprint]
    /// The DTLS role that `a=setup` gave the gateway (RFC 5763 §5).
    package var role: DTLSRole

    package init(local: ICECredentials, remote: ICECredentials, remoteFingerprints: [Fingerprint], role: DTLSRole) {
        self.local = local
        self.remote = remote
        self.remoteFingerprints = remoteFingerprints
        self.role = role
    }
}

/// `a=ice-ufrag` and `a=ice-pwd` (RFC 8839 §5.4).
package struct ICECredentials: Hashable, Sendable {
    /// 4…256 ice-chars.
    package var ufrag: String
    /// 22…256 ice-chars.
    package var password: Redacted<String>

    package init(ufrag: String, password: String) {
        self.ufrag = ufrag
        self.password = Redacted(password)
    }
}

/// A certificate fingerprint (RFC 8122 §5).
///
/// SHA-1, for which collisions are made, MD5 and MD2 are no hash functions here: RFC 8122 §5 asks for SHA-256 and forbids the latter two.
package struct Fingerprint: Hashable, Sendable {
    package enum Algorithm: String, Hashable, Sendable {
        case sha224 = "sha-224"
        case sha256 = "sha-256"
        case sha384 = "sha-384"
        case sha512 = "sha-512"
    }

    package var algorithm: Algorithm
    package var digest: [UInt8]

    package init(_ algorithm: Algorithm, digest: [UInt8]) {
        self.algorithm = algorithm
        self.digest = digest
    }
}

/// Who sends the ClientHello (RFC 5763 §5).
package enum DTLSRole: Equatable, Sendable {
    /// `a=setup:active`: the gateway sends it.
    case client
    /// `a=setup:passive`: the gateway waits for it.
    case server
}

/// One m-line after negotiation.
package struct NegotiatedMedia: Equatable, Sendable {
    /// `a=mid` (RFC 5888); the same on both legs of a call.
    package var mid: String
    package var kind: MediaKind
    /// What the gateway may do on this m-line, seen from the gateway (RFC 3264 §6.1); `.inactive` when rejected.
    package var direction: MediaDirection
    /// Port 0: the m-line exists but carries nothing.
    package var isRejected: Bool
    /// The transport that the m-line is on; means nothing when it is rejected.
    package var transport = TransportNumber.first
    /// The codecs both sides agreed on, in the order of preference.
    package var codecs: [Codec]
    /// Audio codecs of the gateway's offer that the peer's answer leaves out and the gateway can decode. The peer may send
    /// them all the same: who offers is ready for all of it (RFC 3264 §5.1).
    package var furtherCodecs: [Codec] = []
    /// RTP header extensions both sides agreed on.
    package var extensions: [HeaderExtension]
    /// SSRCs the peer announced for what it sends; empty if it announced none (they are then learnt, RFC 9143 §9.2).
    package var remoteSources: [AnnouncedSource]
    /// The SSRC the gateway announced for the media it sends to this peer, and for its retransmissions.
    package var localSSRC: SSRC
    package var localRetransmissionSSRC: SSRC?
    /// How much audio this peer wants in each packet.
    package var packetTime = PacketTime()
    /// `codecs` as the peer itself described them; `nil`: just so. What stands in the gateway's own answer is about the far side, and
    /// whoever codes for this peer, or decodes it, goes by what this peer said (RFC 7587 §7.1).
    package var describedCodecs: [Codec]?
    /// How the payload types of `codecs` compare with those of the call's other legs.
    package var numbering = PayloadNumbering.identity

    package init(
        mid: String, kind: MediaKind, direction: MediaDirection, isRejected: Bool, codecs: [Codec],
        extensions: [HeaderExtension],
        remoteSources: [AnnouncedSource], localSSRC: SSRC, localRetransmissionSSRC: SSRC?
    ) {
        self.mid = mid
        self.kind = kind
        self.direction = direction
        self.isRejected = isRejected
        self.codecs = codecs
        self.extensions = extensions
        self.remoteSources = remoteSources
        self.localSSRC = localSSRC
        self.localRetransmissionSSRC = localRetransmissionSSRC
    }
}

/// The media type of an m-line (RFC 8866 §5.14).
package enum MediaKind: Hashable, Sendable {
    case audio
    case video
    /// `application`, `text`, `image`, `message`: offered by browsers, always rejected by the gateway.
    case other(String)
}

/// The direction attributes of RFC 8866 §6.7, from the describing side's view.
package enum MediaDirection: String, Hashable, Sendable, CaseIterable {
    case sendReceive = "sendrecv"
    case sendOnly = "sendonly"
    case receiveOnly = "recvonly"
    case inactive

    package init(sends: Bool, receives: Bool) {
        self =
            switch (sends, receives) {
            case (true, true): .sendReceive
            case (true, false): .sendOnly
            case (false, true): .receiveOnly
            case (false, false): .inactive
            }
    }

    package var sends: Bool { self == .sendReceive || self == .sendOnly }
    package var receives: Bool { self == .sendReceive || self == .receiveOnly }
    /// The same direction seen from the other side.
    package var reversed: Self { Self(sends: receives, receives: sends) }
}

/// A payload type with all that SDP says about it.
package struct Codec: Hashable, Sendable {
    package var payloadType: PayloadType
    /// The encoding name as written; compare without case (RFC 4855 §3).
    package var name: String
    /// Hertz.
    package var clockRate: Int
    /// Audio channels; 1 when the rtpmap names none, also for `G722/8000/1`.
    package var channels: Int
    /// The text of `a=fmtp` after the payload type, untouched.
    package var parameters: String?
    /// The values of `a=rtcp-fb`, such as `nack pli`.
    package var feedback: [String]

    package init(
        payloadType: PayloadType, name: String, clockRate: Int, channels: Int = 1, parameters: String? = nil,
        feedback: [String] = []
    ) {
        self.payloadType = payloadType
        self.name = name
        self.clockRate = clockRate
        self.channels = channels
        self.parameters = parameters
        self.feedback = feedback
    }
}

/// `a=extmap` (RFC 8285 §5).
package struct HeaderExtension: Hashable, Sendable {
    package var id: UInt8
    package var uri: String
    /// The directions in which the describing side uses the extension (RFC 8285 §5).
    package var direction: MediaDirection

    package init(id: UInt8, uri: String, direction: MediaDirection = .sendReceive) {
        self.id = id
        self.uri = uri
        self.direction = direction
    }
}

/// An `a=ssrc` of the peer with the retransmission source that `a=ssrc-group:FID` ties to it (RFC 5576).
package struct AnnouncedSource: Hashable, Sendable {
    package var ssrc: SSRC
    package var retransmission: SSRC?

    package init(ssrc: SSRC, retransmission: SSRC? = nil) {
        self.ssrc = ssrc
        self.retransmission = retransmission
    }
}
