import MediaPlane
import Primitives
import RTP
import SDP

/// The bytes as what three peers send to a bridge, as commands to it and as time: what the bridge sends parses, goes to
/// the legs that hear its sender, and is one consistent stream per SSRC of the gateway.
///
/// A step is a byte: what happens in the low half, then two bits for the leg and two for a variant; and a byte more.
/// Raw packets follow their step.
package func fuzzBridge(_ bytes: Span<UInt8>) {
    var world = FuzzedBridge()
    var reader = ByteReader(bytes)
    var steps = 0
    while steps < 600, let step = reader.readUInt8(), let argument = reader.readUInt8() {
        steps += 1
        let (leg, variant) = (Int(step >> 4 & 3) % FuzzedPeer.count, Int(step >> 6))
        switch step & 0x0F {
        case 5: world.retransmit(from: leg, argument)
        case 6: world.reportLost(from: leg, variant, argument)
        case 7: world.giveFeedback(from: leg, variant, argument)
        case 8: world.report(from: leg, variant, argument)
        case 9: world.wait(.milliseconds((Int(argument) + 1) * (variant == 3 ? 20 : 1)))
        case 10: world.change(leg, variant, argument)
        case 11: world.setSource(of: leg, variant, argument)
        case 12: world.originate(for: leg, argument)
        case 13: world.end(argument)
        case 14, 15:
            guard let packet = reader.readBytes(min(Int(argument), reader.remaining)) else { return }
            if step & 1 == 0 { world.sendForged(packet, from: leg) } else { world.sendControl(packet, from: leg) }
        default: world.send(from: leg, variant, argument)
        }
        world.check()
    }
}

/// Three peers and their bridge. First a and b hear and see each other, and c hears and sees a.
private struct FuzzedBridge {
    private var bridge: Bridge
    private var random = CountingSource()
    private var now = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private var peers = (0..<FuzzedPeer.count).map(FuzzedPeer.init)
    private var isEnded = false
    /// Whether each packet so far was one that a source sends under its number. The bridge trusts what SRTP has
    /// authenticated: if a peer sends other content under one number, other content leaves under one number.
    private var isHonest = true

    init() {
        var configuration = Bridge.Configuration()
        configuration.maximumLearnedSources = 3
        let wallClock = WallClock(showing: NTPTimestamp(unixNanoseconds: 1_700_000_000_000_000_000), at: now)
        bridge = Bridge(configuration: configuration, cname: "cname", wallClock: wallClock)
        for leg in peers.indices { add(leg) }
        for leg in peers.indices {
            for kind in [MediaKind.audio, .video] { setSource(.leg(LegIndex(leg == 0 ? 1 : 0)), of: kind, for: leg) }
            configure(leg, 0)
            makeReady(leg)
        }
    }

    // MARK: Packets

    /// The next packet of a source, a few later, one that was skipped, or one after a jump.
    mutating func send(from leg: Int, _ source: Int, _ argument: UInt8) {
        let choice = Int(argument & 0x1F)
        let lead =
            switch choice {
            case ..<12: 1
            case ..<20: choice - 10
            case ..<28: 19 - choice
            default: [100, 2_999, 3_000, 5_000][choice - 28]
            }
        guard let packet = peers[leg].packet(of: source, lead: lead, flags: argument >> 5) else { return }
        relay(packet, from: leg)
    }

    /// A retransmission of one of the last pictures, of one that comes next, or padding.
    mutating func retransmit(from leg: Int, _ argument: UInt8) {
        guard let packet = peers[leg].retransmission(back: Int(argument & 0x1F) - 3, isPadding: argument & 0x80 != 0)
        else { return }
        relay(packet, from: leg)
    }

    /// A packet with any bytes, as a peer may encrypt it.
    mutating func sendForged(_ packet: [UInt8], from leg: Int) {
        isHonest = false
        relay(packet, from: leg)
    }

    private mutating func relay(_ packet: [UInt8], from leg: Int) {
        if let header = try? RTPHeader(parsing: packet.span) { peers[leg].heard.insert(header.ssrc) }
        let reception = bridge.receive(packet.span, from: LegIndex(leg), at: now)
        guard case .media(let arrival) = reception else { return drain() }
        precondition(arrival.leg == LegIndex(leg), "a packet is its sender's")
        var receivers: Set<LegIndex> = []
        for number in 0..<arrival.receiverCount {
            // As at a worker, the buffer is larger than the packet.
            var buffer = packet + [UInt8](repeating: 0xEE, count: 16)
            var span = buffer.mutableSpan
            let relaying = bridge.relay(arrival, toReceiver: number, in: &span, count: packet.count, at: now)
            guard case .relay(let receiver, _, let count) = relaying else { continue }
            precondition(receivers.insert(receiver).inserted && receiver != arrival.leg, "each other leg gets it once")
            precondition(
                count <= packet.count && buffer.suffix(16).allSatisfy { $0 == 0xEE },
                "nothing is written behind the packet")
            checkRelayed(Array(buffer.prefix(count)), of: packet, arrival, to: Int(receiver.rawValue))
        }
        drain()
    }

    private mutating func checkRelayed(_ sent: [UInt8], of packet: [UInt8], _ arrival: Arrival, to leg: Int) {
        precondition(!isEnded && peers[leg].isReady, "nothing is relayed to a leg that cannot receive")
        precondition(peers[leg].sources[arrival.line] == .leg(arrival.leg), "a leg hears what it was set to hear")
        let header = parsed(sent)
        precondition(peers[leg].streams(line: arrival.line).contains(header.ssrc), "the SSRC is one of the line's")
        precondition(
            peers[leg].payloadTypes(line: arrival.line).contains(header.payloadType), "the receiver knows the format")
        let (payload, original) = (Array(sent[header.payloadRange]), Array(packet[arrival.header.payloadRange]))
        if header.ssrc == peers[leg].retransmissionSSRC {
            precondition(payload.count == original.count, "a retransmission stays one")
            precondition(payload.dropFirst(2) == original.dropFirst(2), "it repeats what was sent")
        } else if sent.count == packet.count - 2 {
            precondition(payload == Array(original.dropFirst(2)), "it becomes the packet that it repeats")
        } else if header.payloadType == peers[leg].eventType {
            precondition(payload.count == original.count, "an event keeps its length")
        } else {
            precondition(payload == original, "media is not changed")
        }
        note(header, payload, to: leg, isRepetition: false)
    }

    /// Enters a packet into what its receiver was sent: one number stands for one packet, and a retransmission repeats
    /// what was sent under the number that it names.
    private mutating func note(_ header: RTPHeader, _ payload: [UInt8], to leg: Int, isRepetition: Bool) {
        let packet = FuzzedStream.Packet(
            payloadType: header.payloadType, timestamp: header.timestamp, payload: payload)
        let before = peers[leg].sent[header.ssrc, default: FuzzedStream()].note(packet, as: header.sequenceNumber)
        guard isHonest else { return }
        if let before { precondition(before == packet, "one number is one packet") }
        guard header.ssrc == peers[leg].retransmissionSSRC else {
            precondition(!isRepetition || before != nil, "what is repeated was sent")
            return
        }
        precondition(before == nil, "a retransmission has a number of its own")
        guard payload.count >= 2 else { return }
        let number = SequenceNumber(UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard let original = peers[leg].sent[peers[leg].videoSSRC]?.packet(number) else { return }
        precondition(original.timestamp == packet.timestamp, "a retransmission has the time of its original")
        precondition(original.payload == Array(payload.dropFirst(2)), "a retransmission has its original's content")
    }

    /// Audio that the gateway encodes goes on where the stream was, whatever fed it before.
    mutating func originate(for leg: Int, _ argument: UInt8) {
        let index = LegIndex(leg)
        for _ in 0...(argument & 7) {
            guard let state = bridge.audio(of: index), state.feed.isMadeHere, let codec = state.codecs.first else {
                return
            }
            let header = bridge.originate(
                for: index, line: state.line, codec.payloadType, clockRate: 48_000, ticks: 960, octets: 1,
                isSpurt: argument & 8 != 0, at: now)
            precondition(header.ssrc == peers[leg].audioSSRC && !isEnded, "it is sent in the stream of the line")
            let stream = peers[leg].sent[header.ssrc]
            if let highest = stream?.highest {
                precondition(stream?.position(of: header.sequenceNumber) == highest + 1, "no number is left out")
            }
            note(header, [0], to: leg, isRepetition: false)
        }
        drain()
    }

    // MARK: RTCP

    mutating func reportLost(from leg: Int, _ variant: Int, _ argument: UInt8) {
        let media = peers[leg].stream(variant)
        let newest = (peers[leg].sent[media]?.highest ?? 0) - Int(argument & 0x0F)
        let lost = (0...Int(argument >> 4)).reversed().map { SequenceNumber(UInt16(truncatingIfNeeded: newest - $0)) }
        sendControl([.genericNACK(GenericNACK(sender: SSRC(9), media: media, lost: lost))], from: leg)
    }

    mutating func giveFeedback(from leg: Int, _ variant: Int, _ argument: UInt8) {
        let media = peers[leg].stream(Int(argument & 3))
        let feedback: [RTCPPacket] = [
            .pictureLossIndication(PictureLossIndication(sender: SSRC(9), media: media)),
            .fullIntraRequest(
                FullIntraRequest(
                    sender: SSRC(9), entries: [FullIntraRequest.Entry(ssrc: media, commandNumber: argument >> 2)])),
            .estimatedMaximumBitrate(
                EstimatedMaximumBitrate(
                    sender: SSRC(9), bitsPerSecond: UInt64(argument) << 12,
                    sources: [peers[leg].videoSSRC, media])),
        ]
        sendControl(variant == 3 ? feedback : [feedback[variant]], from: leg)
    }

    mutating func report(from leg: Int, _ variant: Int, _ argument: UInt8) {
        let (ssrc, media) = (peers[leg].source(Int(argument & 3)), peers[leg].stream(Int(argument >> 2 & 3)))
        let block = ReportBlock(
            ssrc: media, cumulativeLost: Int32(argument >> 4),
            extendedHighestSequence: UInt32(truncatingIfNeeded: peers[leg].sent[media]?.highest ?? 0),
            lastSenderReport: peers[leg].lastReport, delaySinceLastSenderReport: UInt32(argument) << 4)
        switch variant {
        case 0:
            let report = SenderReport(
                ssrc: ssrc, ntp: NTPTimestamp(now.nanoseconds), timestamp: RTPTimestamp(UInt32(argument) << 24),
                packetCount: 1, octetCount: 1, blocks: [block])
            sendControl([.senderReport(report)], from: leg)
        case 1: sendControl([.receiverReport(ReceiverReport(ssrc: ssrc, blocks: [block]))], from: leg)
        default: sendControl([.goodbye(Goodbye(variant == 2 ? [ssrc] : [ssrc, SSRC(7)]))], from: leg)
        }
    }

    private mutating func sendControl(_ packets: [RTCPPacket], from leg: Int) {
        sendControl(RTCPCompound(packets).bytes, from: leg)
    }

    mutating func sendControl(_ packet: [UInt8], from leg: Int) {
        bridge.receiveControl(packet.span, from: LegIndex(leg), at: now)
        drain()
    }

    // MARK: Commands and time

    mutating func wait(_ duration: Duration) {
        let end = now + duration
        var count = 0
        while let deadline = bridge.nextDeadline, deadline.time <= end {
            now = max(now, deadline.time)
            bridge.timeout(at: now)
            drain()
            count += 1
            precondition(count < 1_000, "what was due is not due again at once")
        }
        now = end
    }

    mutating func change(_ leg: Int, _ variant: Int, _ argument: UInt8) {
        switch variant {
        case 0, 1: configure(leg, argument)
        case 2: if peers[leg].isConfigured { makeReady(leg) }
        default:
            bridge.removeLeg(LegIndex(leg), at: now)
            drain()
            for place in peers.indices {
                for line in 0...1 where peers[place].sources[line] == .leg(LegIndex(leg)) {
                    peers[place].sources[line] = .silence
                }
            }
            peers[leg] = FuzzedPeer(leg)
            add(leg)
        }
    }

    mutating func setSource(of leg: Int, _ variant: Int, _ argument: UInt8) {
        let others = peers.indices.filter { $0 != leg }.map { MediaSource.leg(LegIndex($0)) }
        let source = (others + [.silence, .mix, .player(1)])[Int(argument) % 5]
        setSource(source, of: variant & 1 == 0 ? .audio : .video, for: leg)
    }

    /// The call ends at one argument only, since nothing happens afterwards.
    mutating func end(_ argument: UInt8) {
        guard argument == 0xFF else { return }
        bridge.end(at: now)
        isEnded = true
        drain()
    }

    private mutating func add(_ leg: Int) {
        precondition(bridge.addLeg(random: &random) == LegIndex(leg), "a leg takes the first free place")
    }

    private mutating func setSource(_ source: MediaSource, of kind: MediaKind, for leg: Int) {
        peers[leg].sources[kind == .audio ? 0 : 1] = source
        bridge.setSource(source, of: kind, for: LegIndex(leg), at: now)
        drain()
    }

    private mutating func configure(_ leg: Int, _ argument: UInt8) {
        bridge.configure(LegIndex(leg), peers[leg].negotiated(argument), random: &random, at: now)
        peers[leg].isConfigured = true
        drain()
    }

    private mutating func makeReady(_ leg: Int) {
        bridge.peerReady(LegIndex(leg), at: now)
        peers[leg].isReady = true
        drain()
    }

    // MARK: What the bridge sends by itself

    private mutating func drain() {
        while let output = bridge.poll() {
            switch output {
            case .transmitControl(let bytes, let leg, _):
                checkControl(bytes, to: Int(leg.rawValue))
                bridge.recycle(bytes)
            case .transmitMedia(let bytes, let leg, _):
                let (header, place) = (parsed(bytes), Int(leg.rawValue))
                precondition(peers[place].isReady && !isEnded, "nothing is repeated to a leg that cannot receive")
                precondition(peers[place].streams(line: 1).contains(header.ssrc), "only video is repeated")
                note(header, Array(bytes[header.payloadRange]), to: place, isRepetition: true)
                bridge.recycle(bytes)
            case .audioChanged: break
            }
        }
    }

    private func parsed(_ packet: [UInt8]) -> RTPHeader {
        guard let header = try? RTPHeader(parsing: packet.span) else { preconditionFailure("what is sent parses") }
        return header
    }

    /// RTCP names the gateway's own streams as senders, and only sources of the peer that it is for.
    private mutating func checkControl(_ bytes: [UInt8], to leg: Int) {
        guard let compound = try? RTCPCompound(parsing: bytes.span) else { preconditionFailure("what is sent parses") }
        switch compound.packets.first {
        case .senderReport, .receiverReport: break
        default: preconditionFailure("a compound packet begins with a report")
        }
        for packet in compound.packets {
            let (senders, sources) = named(in: packet)
            precondition(senders.allSatisfy { peers[leg].ownsStream($0) }, "the gateway speaks for its own streams")
            precondition(
                sources.allSatisfy { peers[leg].heard.contains($0) }, "the peer is asked about its own sources")
            guard case .senderReport(let report) = packet else { continue }
            peers[leg].lastReport = report.ntp.compact
            let count = peers[leg].sent[report.ssrc]?.count ?? 0
            precondition(Int(report.packetCount) <= count, "no more is reported than was sent")
        }
    }

    private func named(in packet: RTCPPacket) -> (senders: [SSRC], sources: [SSRC]) {
        switch packet {
        case .senderReport(let report): ([report.ssrc], report.blocks.map(\.ssrc))
        case .receiverReport(let report): ([report.ssrc], report.blocks.map(\.ssrc))
        case .sourceDescription(let description): (description.chunks.map(\.ssrc), [])
        case .goodbye(let goodbye): (goodbye.sources, [])
        case .genericNACK(let nack): ([nack.sender], [nack.media])
        case .pictureLossIndication(let indication): ([indication.sender], [indication.media])
        case .fullIntraRequest(let request): ([request.sender], request.entries.map(\.ssrc))
        case .estimatedMaximumBitrate(let estimate): ([estimate.sender], estimate.sources)
        case .transportFeedback(let feedback): ([feedback.sender], [])
        case .other: preconditionFailure("the gateway sends nothing else")
        }
    }

    /// What the statistics count is what was sent.
    func check() {
        for leg in peers.indices {
            let counted = bridge.statistics(of: LegIndex(leg)).lines.reduce(0) { $0 + $1.packetsSent }
            let sent = peers[leg].sent.values.reduce(0) { $0 + $1.count }
            precondition(counted == UInt64(sent), "every packet is counted once")
        }
    }
}
