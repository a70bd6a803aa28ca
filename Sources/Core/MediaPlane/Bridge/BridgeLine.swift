import Primitives
import RTP
import SDP

/// One m-line of one leg.
struct BridgeLine: Sendable {
    let mid: String
    let midBytes: [UInt8]
    private(set) var kind: MediaKind
    /// The transport of the leg that the m-line is on.
    private(set) var transport = TransportNumber.first
    /// Seen from the gateway; `.inactive` if the m-line is rejected.
    private(set) var direction: MediaDirection
    /// In the order of preference.
    private(set) var codecs: [Codec]
    /// The same as the peer described them.
    private(set) var describedCodecs: [Codec] = []
    /// What this peer did not agree on and may send.
    private(set) var furtherCodecs: [Codec] = []
    /// All that may come.
    private(set) var formats: [PayloadFormat]
    /// Audio formats that this peer sends and a receiver does not know, since the last description.
    private(set) var unrelayable: [PayloadType] = []
    private(set) var numbering = PayloadNumbering.identity
    private(set) var extensions: [HeaderExtension] = []
    /// The id under which this peer says how loud its audio is; 0 if it does not.
    private var levelID: UInt8 = 0
    /// The id under which this peer takes transport-wide numbers; 0 if it does not.
    private(set) var numberID: UInt8 = 0
    /// Of the newest packet of this peer that said it.
    private(set) var level: ClientAudioLevel?
    private(set) var feedback: FeedbackSupport
    private(set) var packetTime = PacketTime()
    /// What the gateway sends to this peer.
    var primary: OutgoingStream
    var retransmission: OutgoingStream?
    /// What was sent to this peer, to be repeated when it asks; `nil` for what is never repeated.
    var history: PacketHistory?

    /// What this peer is sent.
    var feed = LineFeed.nothing
    /// From the payload types of whoever it is relayed from.
    var translation = PayloadTranslation.none
    /// What has come of the telephone events that this peer counts at another rate than whoever it is relayed from.
    var eventScaling = EventScaling()
    /// From the header extension ids of whoever it is relayed from.
    var extensionNumbering = ExtensionNumbering.identity
    /// Where this peer's packets go.
    var receivers: [Receiver] = []
    /// The gateway listens to this peer's audio itself.
    var isDecoded = false
    /// What keeps this peer's packets from being of any use; `nil` while they are.
    var obstacle: DropReason? = .notConfigured
    /// The SSRC of this peer whose packets count now, and when the last of them came.
    var activeSource: SSRC?
    var lastActive = MonotonicTime.zero
    /// What this peer was told last that those who see it can take, in bits per second, and when (REMB).
    var toldLimit: (bitsPerSecond: UInt64, moment: MonotonicTime)?

    /// What this peer shows.
    private(set) var pictures = PictureStatistics()
    /// What it misses of what it is shown.
    var waits = PictureWaits()

    private(set) var packetsReceived: UInt64 = 0
    private(set) var octetsReceived: UInt64 = 0

    /// When this peer was last asked for a key frame.
    var lastKeyFrameRequest: MonotonicTime?
    /// The number of the last FIR to this peer.
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

    /// Takes over the outcome of another offer and answer; streams whose SSRC stays go on.
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
        feedback = FeedbackSupport(codecs)
        packetTime = media.packetTime
        if primary.ssrc != media.localSSRC { primary = OutgoingStream(ssrc: media.localSSRC, random: &random) }
        if retransmission?.ssrc != media.localRetransmissionSSRC {
            retransmission = media.localRetransmissionSSRC.map { OutgoingStream(ssrc: $0, random: &random) }
        }
        // Audio that comes again comes too late to be played.
        let isRepeated = kind == .video && direction.sends && feedback.contains(.nack)
        history = isRepeated ? history ?? PacketHistory(historyConfiguration) : nil
    }

    /// The payload type under which this peer takes repetitions of another one (RFC 4588); `nil` if it takes the same packet again.
    func repairFormat(of payloadType: PayloadType) -> PayloadType? {
        for format in formats where format.repairs == payloadType { return format.payloadType }
        return nil
    }

    /// Notes that this peer sends audio that a receiver does not know; returns whether that is new.
    mutating func noteUnrelayable(_ format: PayloadFormat) -> Bool {
        guard kind == .audio, format.carriesMedia, !unrelayable.contains(format.payloadType) else { return false }
        unrelayable.append(format.payloadType)
        return true
    }

    mutating func packetReceived(octets: Int) {
        packetsReceived &+= 1
        octetsReceived &+= UInt64(octets)
    }

    /// Reads how loud the audio of a packet is, unless the packet is older than what is known.
    mutating func noteLevel(_ header: RTPHeader, in packet: Span<UInt8>, _ position: ReceptionStatistics.Position) {
        guard levelID != 0, position == .newest || position == .restarted,
            let range = header.extensionElement(levelID, in: packet),
            let level = ClientAudioLevel(parsing: packet.extracting(range))
        else { return }
        self.level = level
    }

    /// A packet with a part of a picture has come.
    mutating func pictureReceived(
        _ header: RTPHeader, beginsKeyFrame: Bool, _ position: ReceptionStatistics.Position, at now: MonotonicTime
    ) {
        switch position {
        case .astray: return
        case .restarted: pictures.restart()
        case .newest, .late: break
        }
        pictures.packetReceived(from: header.ssrc, timestamp: header.timestamp, beginsKeyFrame: beginsKeyFrame, at: now)
    }

    /// The m-line is held: until its pictures go on, nobody misses them.
    mutating func pausePictures() { pictures.restart() }

    /// Not rejected.
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
