package import Primitives

/// What offer and answer agreed for one leg: everything that the media plane needs to serve that peer.
///
/// `LegNegotiation` builds it once both descriptions are known. Only the media plane uses it.
package struct NegotiatedLeg: Equatable, Sendable {
    /// The leg's first transport. All m-lines of a peer that bundles are on it (RFC 9143).
    package var transport: NegotiatedTransport
    /// The other transports of a peer that does not bundle; empty if it bundles.
    package var furtherTransports: [TransportNumber: NegotiatedTransport] = [:]
    /// The m-lines in their order, with rejected ones.
    package var media: [NegotiatedMedia]

    /// Makes an agreement with one transport.
    package init(transport: NegotiatedTransport, media: [NegotiatedMedia]) {
        self.transport = transport
        self.media = media
    }

    /// The transport of that number; `nil` if nothing is agreed for it.
    package func transport(_ number: TransportNumber) -> NegotiatedTransport? {
        number == .first ? transport : furtherTransports[number]
    }

    /// The transport whose failure is the leg's failure: that of the first audio m-line, or of the first m-line if none
    /// has audio. Rejected m-lines do not count.
    package var principalTransport: TransportNumber {
        let carried = media.filter { !$0.isRejected }
        return (carried.first { $0.kind == .audio } ?? carried.first)?.transport ?? .first
    }
}

/// The ICE and DTLS parameters of both ends of a transport.
package struct NegotiatedTransport: Equatable, Sendable {
    /// The credentials in the gateway's description.
    package var local: ICECredentials
    /// The credentials in the peer's description.
    package var remote: ICECredentials
    /// The peer's `a=fingerprint` lines (RFC 8122 §5). One of them must match its certificate.
    package var remoteFingerprints: [Fingerprint]
    /// The DTLS role of the gateway, as `a=setup` settled it (RFC 5763 §5).
    package var role: DTLSRole

    /// Makes a transport of its parts; each parameter is the property of that name.
    package init(local: ICECredentials, remote: ICECredentials, remoteFingerprints: [Fingerprint], role: DTLSRole) {
        self.local = local
        self.remote = remote
        self.remoteFingerprints = remoteFingerprints
        self.role = role
    }
}

/// `a=ice-ufrag` and `a=ice-pwd` (RFC 8839 §5.4).
package struct ICECredentials: Hashable, Sendable {
    /// The username fragment, 4 to 256 ice-chars.
    package var ufrag: String
    /// The password, 22 to 256 ice-chars. It does not appear in logs.
    package var password: Redacted<String>

    /// Makes credentials; lengths are not checked.
    package init(ufrag: String, password: String) {
        self.ufrag = ufrag
        self.password = Redacted(password)
    }
}

/// The fingerprint of a certificate (RFC 8122 §5).
///
/// SHA-1, MD5 and MD2 are no algorithms here. Collisions of SHA-1 are feasible; RFC 8122 §5 asks for SHA-256 and
/// forbids MD5 and MD2.
package struct Fingerprint: Hashable, Sendable {
    /// The hash function, by its name in `a=fingerprint`.
    package enum Algorithm: String, Hashable, Sendable {
        /// SHA-224, a digest of 28 bytes.
        case sha224 = "sha-224"
        /// SHA-256, a digest of 32 bytes.
        case sha256 = "sha-256"
        /// SHA-384, a digest of 48 bytes.
        case sha384 = "sha-384"
        /// SHA-512, a digest of 64 bytes.
        case sha512 = "sha-512"
    }

    /// The hash function of the digest.
    package var algorithm: Algorithm
    /// The digest of the certificate in DER. Its length is that of the hash function.
    package var digest: [UInt8]

    /// Makes a fingerprint; the length of the digest is not checked.
    package init(_ algorithm: Algorithm, digest: [UInt8]) {
        self.algorithm = algorithm
        self.digest = digest
    }
}

/// The side of the DTLS handshake that the gateway takes: the client sends the ClientHello (RFC 5763 §5).
package enum DTLSRole: Equatable, Sendable {
    /// `a=setup:active`: the gateway sends the ClientHello.
    case client
    /// `a=setup:passive`: the gateway waits for the ClientHello.
    case server
}

/// What is agreed for one m-line.
package struct NegotiatedMedia: Equatable, Sendable {
    /// `a=mid` (RFC 5888). It is the same on both legs of a call.
    package var mid: String
    /// The media type of the m-line.
    package var kind: MediaKind
    /// What the gateway may do on this m-line, as the gateway sees it (RFC 3264 §6.1); `.inactive` if the m-line is
    /// rejected.
    package var direction: MediaDirection
    /// Whether the m-line has port 0: it exists but carries nothing.
    package var isRejected: Bool
    /// The transport of the m-line; without meaning if the m-line is rejected.
    package var transport = TransportNumber.first
    /// The codecs that both sides agreed on, in the order of preference.
    package var codecs: [Codec]
    /// Audio codecs of the gateway's offer that the peer's answer omits and the gateway can decode. The peer may still
    /// send them, since an offerer is ready for everything that it offers (RFC 3264 §5.1).
    package var furtherCodecs: [Codec] = []
    /// The RTP header extensions that both sides agreed on.
    package var extensions: [HeaderExtension]
    /// The SSRCs that the peer announced for what it sends. If it announced none, the list is empty and they are learnt
    /// from its packets (RFC 9143 §9.2).
    package var remoteSources: [AnnouncedSource]
    /// The SSRC that the gateway announced for the media that it sends to this peer.
    package var localSSRC: SSRC
    /// The SSRC of the gateway's retransmissions to this peer; `nil` if retransmissions are not agreed.
    package var localRetransmissionSSRC: SSRC?
    /// The packet durations that this peer wants.
    package var packetTime = PacketTime()
    /// `codecs` as the peer itself described them; `nil` if there is no difference.
    ///
    /// The gateway's own answer describes the other leg's peer. The encoder and the decoder for this peer go by the
    /// description of this peer (RFC 7587 §7.1).
    package var describedCodecs: [Codec]?
    /// How the payload types of `codecs` map to those of the call.
    package var numbering = PayloadNumbering.identity

    /// Makes an m-line of its parts; each parameter is the property of that name. The other properties keep their
    /// defaults.
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
    /// Sound, with DTMF digits and comfort noise.
    case audio
    /// Moving pictures.
    case video
    /// `application`, `text`, `image` or `message`. Browsers offer some of them; the gateway always rejects them.
    case other(String)
}

/// The direction attributes of RFC 8866 §6.7, as the describing side sees them.
package enum MediaDirection: String, Hashable, Sendable, CaseIterable {
    /// The describing side sends and receives.
    case sendReceive = "sendrecv"
    /// The describing side only sends, for example because it has put the other side on hold.
    case sendOnly = "sendonly"
    /// The describing side only receives.
    case receiveOnly = "recvonly"
    /// The describing side neither sends nor receives.
    case inactive

    /// Makes the direction that has these two parts.
    package init(sends: Bool, receives: Bool) {
        self =
            switch (sends, receives) {
            case (true, true): .sendReceive
            case (true, false): .sendOnly
            case (false, true): .receiveOnly
            case (false, false): .inactive
            }
    }

    /// Whether the describing side sends.
    package var sends: Bool { self == .sendReceive || self == .sendOnly }
    /// Whether the describing side receives.
    package var receives: Bool { self == .sendReceive || self == .receiveOnly }
    /// The same direction as the other side sees it.
    package var reversed: Self { Self(sends: receives, receives: sends) }

    /// The part of this direction that `limit` allows.
    package func narrowed(to limit: Self) -> Self {
        Self(sends: sends && limit.sends, receives: receives && limit.receives)
    }

    /// Whether an answer may have this direction if the offer has `offered` (RFC 3264 §6.1). The answerer may send only
    /// what the offerer receives, and receive only what the offerer sends.
    package func mayAnswer(_ offered: Self) -> Bool { narrowed(to: offered.reversed) == self }
}

/// A format: a payload type with everything that SDP says about it.
package struct Codec: Hashable, Sendable {
    /// The payload type, 0 to 127.
    package var payloadType: PayloadType
    /// The encoding name as written; it is compared without case (RFC 4855 §3).
    package var name: String
    /// The RTP clock rate in hertz.
    package var clockRate: Int
    /// The number of audio channels; 1 if the rtpmap names none. It is 1 for `G722/8000/1`, too.
    package var channels: Int
    /// The text of `a=fmtp` after the payload type, unchanged; `nil` if there is no such line.
    package var parameters: String?
    /// The values of `a=rtcp-fb`, such as `nack pli` (RFC 4585 §4.2).
    package var feedback: [String]

    /// Makes a codec of its parts; each parameter is the property of that name.
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

/// A mapping of `a=extmap` (RFC 8285 §5).
package struct HeaderExtension: Hashable, Sendable {
    /// The id that stands for the extension in packets, 1 to 255.
    package var id: UInt8
    /// The URI that names the extension.
    package var uri: String
    /// The directions in which the describing side uses the extension (RFC 8285 §5).
    package var direction: MediaDirection

    /// Makes a mapping; `direction` is `sendrecv` unless given.
    package init(id: UInt8, uri: String, direction: MediaDirection = .sendReceive) {
        self.id = id
        self.uri = uri
        self.direction = direction
    }
}

/// An `a=ssrc` of the peer, with the retransmission source that `a=ssrc-group:FID` ties to it (RFC 5576).
package struct AnnouncedSource: Hashable, Sendable {
    /// The SSRC of the media.
    package var ssrc: SSRC
    /// The SSRC of its retransmissions; `nil` if the peer announced none.
    package var retransmission: SSRC?

    /// Makes a source of its parts; each parameter is the property of that name.
    package init(ssrc: SSRC, retransmission: SSRC? = nil) {
        self.ssrc = ssrc
        self.retransmission = retransmission
    }
}
