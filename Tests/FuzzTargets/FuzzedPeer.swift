import MediaPlane
import Primitives
import SDP

/// A peer of a fuzzed bridge: its sources, what it has agreed on, and what it was sent.
///
///     peer  its sources: audio, video, rtx, more audio and video    the gateway's SSRCs towards it
///     a     1000         1001   1002  1003           1004           0xA0   0xA1   0xA2
///     b     2000         2001   2002  2003           2004           0xB0   0xB1   0xB2
///     c     3000         3001   -     3003           3004           0xC0   0xC1   -
///
/// The sources `more` are not announced. Peers a and b use the same payload types, rtx and transport-wide numbers; c
/// uses other payload types, another clock rate of telephone-events, and neither rtx nor such numbers. Peer a may send
/// formats that no other peer knows.
struct FuzzedPeer {
    static let count = 3

    private let place: Int
    private var media: [FuzzedSource]
    private var repairs: FuzzedSource
    /// What the peer hears and sees, by m-line.
    var sources = [MediaSource.silence, .silence]
    var isConfigured = false
    var isReady = false
    /// The SSRCs of all packets that the peer has sent.
    var heard: Set<SSRC> = []
    /// What the peer was sent, by the SSRC of the gateway.
    var sent: [SSRC: FuzzedStream] = [:]
    /// The time in the last sender report that the peer was sent, as reports name it.
    var lastReport: UInt32 = 0

    init(_ place: Int) {
        self.place = place
        let first = UInt32(1_000 * (place + 1))
        media = [0, 1, 3, 4].map { FuzzedSource(ssrc: SSRC(first + $0)) }
        repairs = FuzzedSource(ssrc: SSRC(first + 2))
    }

    // MARK: The gateway's streams

    var audioSSRC: SSRC { SSRC(UInt32(0xA0 + 0x10 * place)) }
    var videoSSRC: SSRC { SSRC(UInt32(0xA1 + 0x10 * place)) }
    var retransmissionSSRC: SSRC? { hasRepairs ? SSRC(UInt32(0xA2 + 0x10 * place)) : nil }

    private var hasRepairs: Bool { place < 2 }

    func streams(line: Int) -> [SSRC] {
        line == 0 ? [audioSSRC] : [videoSSRC, retransmissionSSRC].compactMap(\.self)
    }

    func ownsStream(_ ssrc: SSRC) -> Bool { streams(line: 0).contains(ssrc) || streams(line: 1).contains(ssrc) }

    /// One of the streams to this peer; the last one is unknown.
    func stream(_ choice: Int) -> SSRC { [videoSSRC, retransmissionSSRC ?? audioSSRC, audioSSRC, SSRC(7)][choice] }

    // MARK: What is agreed

    private var codecs: (audio: [Codec], video: [Codec]) {
        let feedback = ["nack", "nack pli", "ccm fir", "goog-remb"]
        guard hasRepairs else {
            return (
                [codec(109, "opus", 48_000), codec(101, "telephone-event", 48_000)],
                [codec(120, "VP8", 90_000, feedback: feedback)]
            )
        }
        let audio = [codec(111, "opus", 48_000), codec(126, "telephone-event", 8_000)]
        let video = [
            codec(96, "VP8", 90_000, feedback: feedback + [Codec.transportFeedback]),
            codec(97, "rtx", 90_000, parameters: "apt=96"),
        ]
        guard place == 0 else { return (audio, video) }
        return (audio + [codec(0, "PCMU", 8_000)], video + [codec(98, "VP9", 90_000, feedback: feedback)])
    }

    var eventType: PayloadType? { codecs.audio.first { $0.name == "telephone-event" }?.payloadType }

    func payloadTypes(line: Int) -> [PayloadType] { (line == 0 ? codecs.audio : codecs.video).map(\.payloadType) }

    private func codec(
        _ number: UInt8, _ name: String, _ clockRate: Int, parameters: String? = nil, feedback: [String] = []
    ) -> Codec {
        Codec(
            payloadType: PayloadType(maskingHeaderByte: number), name: name, clockRate: clockRate,
            parameters: parameters, feedback: feedback)
    }

    private static let midID: UInt8 = 4
    private var numberID: UInt8 { UInt8(5 + place) }

    /// What offer and answer have agreed on. The argument says who sends, and whether there is video.
    func negotiated(_ argument: UInt8) -> NegotiatedLeg {
        let credentials = ICECredentials(ufrag: "ufrag", password: "password-of-22-characters")
        let direction = MediaDirection.allCases[Int(argument & 3)]
        let mid = HeaderExtension(id: Self.midID, uri: "urn:ietf:params:rtp-hdrext:sdes:mid")
        let number = HeaderExtension(id: numberID, uri: HeaderExtension.transportSequenceNumber)
        let audio = NegotiatedMedia(
            mid: "0", kind: .audio, direction: direction, isRejected: false, codecs: codecs.audio, extensions: [mid],
            remoteSources: [AnnouncedSource(ssrc: media[0].ssrc)], localSSRC: audioSSRC,
            localRetransmissionSSRC: nil)
        let video = NegotiatedMedia(
            mid: "1", kind: .video, direction: argument & 4 == 0 ? direction : .inactive,
            isRejected: argument & 4 != 0, codecs: codecs.video, extensions: hasRepairs ? [mid, number] : [mid],
            remoteSources: [
                AnnouncedSource(ssrc: media[1].ssrc, retransmission: hasRepairs ? repairs.ssrc : nil)
            ],
            localSSRC: videoSSRC, localRetransmissionSSRC: retransmissionSSRC)
        let transport = NegotiatedTransport(
            local: credentials, remote: credentials, remoteFingerprints: [], role: .server)
        return NegotiatedLeg(transport: transport, media: [audio, video])
    }

    // MARK: What the peer sends

    /// The SSRC of one of its sources: audio, video and those that are not announced.
    func source(_ choice: Int) -> SSRC { media[choice].ssrc }

    /// A packet of a source, `lead` after its newest one; `nil` if the source has sent that number already.
    ///
    /// - Parameter flags: Three bits: another format, header extensions, and another one: PCMU in audio.
    mutating func packet(of choice: Int, lead: Int, flags: UInt8) -> [UInt8]? {
        let isVideo = choice & 1 == 1
        guard let number = media[choice].next(lead: lead) else { return nil }
        let known = isVideo ? codecs.video : codecs.audio
        var format = known[0]
        if flags & 1 != 0 { format = isVideo ? known[known.count - 1] : known[1] }
        if flags & 4 != 0, !isVideo { format = known[known.count - 1] }
        // A source of video does not send retransmissions.
        if format.name == "rtx" { format = known[0] }
        let content = media[choice].content(of: number, isVideo: isVideo)
        let isEvent = format.payloadType == eventType
        return packet(
            of: media[choice].ssrc, number, format.payloadType, timestamp: media[choice].timestamp(of: number),
            isMarked: isVideo && number & 3 == 3, hasExtensions: flags & 2 != 0, isVideo: isVideo,
            payload: isEvent ? [UInt8(number & 0x0F), 10, 0, UInt8(number & 0x7F)] : content)
    }

    /// A retransmission of the picture `back` before the newest one, or padding; `nil` for a peer without rtx.
    mutating func retransmission(back: Int, isPadding: Bool) -> [UInt8]? {
        guard hasRepairs, let number = repairs.next(lead: 1) else { return nil }
        let original = media[1].newest - back
        let name = [UInt8(truncatingIfNeeded: original >> 8), UInt8(truncatingIfNeeded: original)]
        return packet(
            of: repairs.ssrc, number, PayloadType(maskingHeaderByte: 97),
            timestamp: media[1].timestamp(of: original), isMarked: original & 3 == 3, hasExtensions: false,
            isVideo: true, payload: isPadding ? [] : name + media[1].content(of: original, isVideo: true))
    }

    private func packet(
        of ssrc: SSRC, _ number: Int, _ payloadType: PayloadType, timestamp: UInt32, isMarked: Bool,
        hasExtensions: Bool, isVideo: Bool, payload: [UInt8]
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(UInt8(hasExtensions ? 0x90 : 0x80))
        writer.write(payloadType.rawValue | (isMarked ? 0x80 : 0))
        writer.write(UInt16(truncatingIfNeeded: number))
        writer.write(timestamp)
        writer.write(ssrc.rawValue)
        if hasExtensions {
            // Mid and transport-wide number with one-byte headers (RFC 8285 §4.2), and three bytes of padding.
            writer.write(UInt16(0xBEDE))
            writer.write(UInt16(2))
            writer.write([Self.midID << 4, isVideo ? 0x31 : 0x30])
            writer.write([numberID << 4 | 1, UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)])
            writer.writeZeros(3)
        }
        writer.write(payload)
        return writer.bytes
    }
}

/// A source of a peer. Each number is sent once, since SRTP lets nothing else in, and says what the packet contains.
///
/// A source sends fewer than 2¹⁵ numbers in one input. Numbers of its packets thus stay unambiguous, even where a
/// receiver gets none of them for a while.
struct FuzzedSource {
    private static let reach = 0x7000
    /// The number before the first one, shortly before the numbers wrap around.
    private static let start = 0xFFE0

    let ssrc: SSRC
    private(set) var newest = Self.start
    private var sent: Set<Int> = []

    init(ssrc: SSRC) { self.ssrc = ssrc }

    /// Takes the number `lead` after the newest one; `nil` if it was sent already, or is too far from the first.
    mutating func next(lead: Int) -> Int? {
        let number = newest + lead
        guard abs(number - Self.start) < Self.reach, sent.insert(number).inserted else { return nil }
        newest = max(newest, number)
        return number
    }

    func timestamp(of number: Int) -> UInt32 { UInt32(truncatingIfNeeded: number &* 960) }

    /// A payload that no other packet has. That of video is VP8, with a key frame at every eighth packet (RFC 7741).
    func content(of number: Int, isVideo: Bool) -> [UInt8] {
        let name = [
            UInt8(truncatingIfNeeded: ssrc.rawValue), UInt8(truncatingIfNeeded: number >> 16),
            UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number),
        ]
        return isVideo ? [0x10, number & 7 == 0 ? 0 : 1] + name : name
    }
}

/// What the gateway has sent under one of its SSRCs, by the number with its cycles.
struct FuzzedStream {
    struct Packet: Equatable {
        var payloadType: PayloadType
        var timestamp: RTPTimestamp
        var payload: [UInt8]
    }

    private(set) var highest: Int?
    /// The number of packets, including those that were sent again.
    private(set) var count = 0
    private var packets: [Int: Packet] = [:]

    /// The number with its cycles: the one that is nearest to the highest so far.
    func position(of number: SequenceNumber) -> Int {
        guard let highest else { return 0x1_0000 + Int(number.rawValue) }
        return highest + (number - SequenceNumber(UInt16(truncatingIfNeeded: highest)))
    }

    /// What was sent under a number.
    func packet(_ number: SequenceNumber) -> Packet? { packets[position(of: number)] }

    /// Enters a packet; returns what was sent under its number before.
    mutating func note(_ packet: Packet, as number: SequenceNumber) -> Packet? {
        let position = position(of: number)
        defer {
            highest = max(highest ?? position, position)
            count += 1
            packets[position] = packet
        }
        return packets[position]
    }
}
