import Primitives
import RTP
import SDP

/// One m-line of one leg, with its streams in both directions.
struct BridgeLine: Sendable {
    let mid: String
    let midBytes: [UInt8]
    private(set) var kind: MediaKind
    /// The transport of the m-line.
    private(set) var transport = TransportNumber.first
    /// The direction as the gateway sees it; `.inactive` if the m-line is rejected.
    private(set) var direction: MediaDirection
    /// The agreed codecs in the order of preference.
    private(set) var codecs: [Codec]
    /// The agreed codecs as the peer described them.
    private(set) var describedCodecs: [Codec] = []
    /// Codecs that the gateway offered and this peer did not accept, but may send.
    private(set) var furtherCodecs: [Codec] = []
    /// The formats of all packets that may come.
    private(set) var formats: [PayloadFormat]
    /// Audio payload types that this peer has sent since the last description and a receiver does not know.
    private(set) var unrelayable: [PayloadType] = []
    private(set) var numbering = PayloadNumbering.identity
    private(set) var extensions: [HeaderExtension] = []
    /// The id under which this peer sends audio levels; 0 if it does not.
    private var levelID: UInt8 = 0
    /// The id under which this peer takes transport-wide sequence numbers; 0 if it does not.
    private(set) var numberID: UInt8 = 0
    /// The id under which this peer takes the mid of an m-line; 0 if it does not.
    private(set) var midID: UInt8 = 0
    /// The audio level in the newest packet of this peer that has one.
    private(set) var level: ClientAudioLevel?
    private(set) var feedback: FeedbackSupport
    private(set) var packetTime = PacketTime()
    /// The gateway's stream to this peer.
    var primary: OutgoingStream
    var retransmission: OutgoingStream?
    /// The packets sent to this peer, for retransmission; `nil` if none are retransmitted.
    var history: PacketHistory?

    /// What this peer is sent.
    var feed = LineFeed.nothing
    /// The mapping from the payload types of the leg that it is relayed from.
    var translation = PayloadTranslation.none
    /// The state of telephone events for which this peer uses another clock rate than the leg that they are relayed
    /// from.
    var eventScaling = EventScaling()
    /// The mapping from the header extension ids of the leg that it is relayed from.
    var extensionNumbering = ExtensionNumbering.identity
    /// The m-lines to which this peer's packets go.
    var receivers: [Receiver] = []
    /// Whether the gateway decodes this peer's audio.
    var isDecoded = false
    /// Why this peer's packets are dropped; `nil` if they are not.
    var obstacle: DropReason? = .notConfigured
    /// The active SSRC of this peer, and the time of its last packet.
    var activeSource: SSRC?
    var lastActive = MonotonicTime.zero
    /// The last limit of the bit rate (REMB) that this peer was sent, in bit/s, and its time.
    var toldLimit: (bitsPerSecond: UInt64, moment: MonotonicTime)?

    /// Statistics of the pictures that this peer sends.
    private(set) var pictures = PictureStatistics()
    /// Statistics of the pictures that this peer misses.
    var waits = PictureWaits()

    private(set) var packetsReceived: UInt64 = 0
    private(set) var octetsReceived: UInt64 = 0

    /// The time of the last request for a key frame to this peer.
    var lastKeyFrameRequest: MonotonicTime?
    /// The sequence number of the last FIR to this peer.
    var commandNumber: UInt8 = 0

    private let historyConfiguration: PacketHistory.Configuration

    init(_ media: NegotiatedMedia, history configuration: PacketHistory.Configuration, random: inout some RandomSource)
    {
        historyConfiguration = configuration
        mid = media.mid
        midBytes = [UInt8](media.mid.utf8)
        kind = media.kind
        direction = .inactive
        codecs = []
        formats = []
        feedback = []
        primary = OutgoingStream(ssrc: media.localSSRC, random: &random)
        update(media, random: &random)
    }

    /// Applies the outcome of another offer/answer exchange. Streams whose SSRC stays continue.
    mutating func update(_ media: NegotiatedMedia, random: inout some RandomSource) {
        kind = media.kind
        transport = media.isRejected ? .first : media.transport
        direction = media.isRejected ? .inactive : media.direction
        codecs = media.isRejected ? [] : media.codecs
        describedCodecs = media.isRejected ? [] : media.describedCodecs ?? media.codecs
        furtherCodecs = media.isRejected ? [] : media.furtherCodecs
        formats = (codecs + furtherCodecs).compactMap(PayloadFormat.init)
        unrelayable = []
        numbering = media.numbering
        extensions = media.extensions
        levelID = media.audioLevelID ?? 0
        if levelID == 0 { level = nil }
        numberID = media.outgoingNumberID
        midID = id(of: HeaderExtension.mediaIdentification)
        feedback = FeedbackSupport(codecs)
        packetTime = media.packetTime
        if primary.ssrc != media.localSSRC { primary = OutgoingStream(ssrc: media.localSSRC, random: &random) }
        if retransmission?.ssrc != media.localRetransmissionSSRC {
            retransmission = media.localRetransmissionSSRC.map { OutgoingStream(ssrc: $0, random: &random) }
        }
        // Retransmitted audio would come too late to be played.
        let isRepeated = kind == .video && direction.sends && feedback.contains(.nack)
        history = isRepeated ? history ?? PacketHistory(historyConfiguration) : nil
    }

    /// The payload type under which this peer takes retransmissions of another one (RFC 4588); `nil` if it takes the
    /// same packet again.
    func repairFormat(of payloadType: PayloadType) -> PayloadType? {
        for format in formats where format.repairs == payloadType { return format.payloadType }
        return nil
    }

    /// Takes note that this peer sends audio that a receiver does not know; returns whether that is new.
    mutating func noteUnrelayable(_ format: PayloadFormat) -> Bool {
        guard kind == .audio, format.carriesMedia, !unrelayable.contains(format.payloadType) else { return false }
        unrelayable.append(format.payloadType)
        return true
    }

    mutating func packetReceived(octets: Int) {
        packetsReceived &+= 1
        octetsReceived &+= UInt64(octets)
    }

    /// Reads the audio level of a packet, unless a newer packet has come.
    mutating func noteLevel(_ header: RTPHeader, in packet: Span<UInt8>, _ position: ReceptionStatistics.Position) {
        guard levelID != 0, position == .newest || position == .restarted,
            let range = header.extensionElement(levelID, in: packet),
            let level = ClientAudioLevel(parsing: packet.extracting(range))
        else { return }
        self.level = level
    }

    /// Takes note of a packet with a part of a picture.
    mutating func pictureReceived(
        _ header: RTPHeader, startsKeyFrame: Bool, _ position: ReceptionStatistics.Position, at now: MonotonicTime
    ) {
        switch position {
        case .sequenceJump: return
        case .restarted: pictures.restart()
        case .newest, .late: break
        }
        pictures.packetReceived(from: header.ssrc, timestamp: header.timestamp, startsKeyFrame: startsKeyFrame, at: now)
    }

    /// Takes note that the m-line is on hold: receivers do not miss its pictures until it is resumed.
    mutating func pausePictures() { pictures.restart() }

    /// Whether the m-line is not rejected.
    var carriesMedia: Bool { !codecs.isEmpty }

    func format(_ payloadType: PayloadType) -> PayloadFormat? {
        for format in formats where format.payloadType == payloadType { return format }
        return nil
    }

    func isNamed(by range: Range<Int>, of packet: Span<UInt8>) -> Bool {
        guard range.count == midBytes.count else { return false }
        for index in midBytes.indices where packet[range.lowerBound + index] != midBytes[index] { return false }
        return true
    }
}

extension NegotiatedMedia {
    fileprivate var audioLevelID: UInt8? {
        guard kind == .audio, !isRejected else { return nil }
        return extensions.first { $0.uri == HeaderExtension.audioLevel && $0.direction.receives }?.id
    }
}
