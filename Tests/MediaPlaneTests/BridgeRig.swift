import MediaPlane
import Primitives
import RTP
import SDP
import TestSupport

/// A bridge between two legs with an audio and a video m-line each, and what the peers behind them would see.
///
///     peer  its sources: audio, video, rtx    the gateway's SSRCs towards it
///     a     1001         1002   1003          0xA0          0xA1   0xA2
///     b     2001         2002   2003          0xB0          0xB1   0xB2
struct BridgeRig {
    static let opus = 111
    static let telephoneEvent = 126
    static let vp8 = 96
    static let rtx = 97
    static let midExtension: UInt8 = 4

    /// A packet as it leaves the bridge.
    struct Packet: Equatable {
        var sequenceNumber: UInt16
        var timestamp: UInt32
        var ssrc: UInt32
        var marker: Bool
        var payloadType: Int
        var payload: [UInt8]
    }

    enum Outcome: Equatable {
        case relayed(Packet)
        case dropped(DropReason)

        var packet: Packet? {
            if case .relayed(let packet) = self { packet } else { nil }
        }
    }

    var bridge: Bridge
    var clock = VirtualClock()
    var random: SeededRandomSource
    /// RTCP that has left the bridge and was not looked at yet.
    private var controlSent: [(compound: RTCPCompound, to: LegIndex)] = []
    /// How often what is coded here has changed by itself.
    private(set) var audioChanges = 0
    /// What the bridge has sent again and was not looked at yet.
    private var repetitions: [(packet: Packet, to: LegIndex)] = []
    /// The mid in each packet that the bridge has sent again.
    private(set) var repeatedMids: [String?] = []

    static let wallTime = NTPTimestamp(unixNanoseconds: 1_700_000_000_000_000_000)

    init(seed: UInt64 = 1, configuration: Bridge.Configuration = .init(), ready: Bool = true) {
        random = SeededRandomSource(seed: seed)
        bridge = Bridge(
            configuration: configuration, cname: "cname", wallClock: WallClock(showing: Self.wallTime, at: clock.now))
        for side in LegIndex.allCases {
            precondition(bridge.addLeg(random: &random) == side, "legs take the first free places")
        }
        for kind in [MediaKind.audio, .video] {
            for side in LegIndex.allCases { bridge.setSource(.leg(side.other), of: kind, for: side, at: clock.now) }
        }
        guard ready else { return }
        configure(.a)
        configure(.b)
        for side in LegIndex.allCases { peerReady(side) }
    }

    // MARK: Negotiation

    static func leg(_ side: LegIndex, announcing: Bool = true) -> NegotiatedLeg {
        let credentials = ICECredentials(ufrag: "ufrag", password: "password-of-22-characters")
        let (source, local): (UInt32, UInt32) = side == .a ? (1000, 0xA0) : (2000, 0xB0)
        let extensions = [HeaderExtension(id: midExtension, uri: "urn:ietf:params:rtp-hdrext:sdes:mid")]
        let audio = NegotiatedMedia(
            mid: "0", kind: .audio, direction: .sendReceive, isRejected: false,
            codecs: [codec(opus, "opus", 48000), codec(telephoneEvent, "telephone-event", 8000)],
            extensions: extensions,
            remoteSources: announcing ? [AnnouncedSource(ssrc: SSRC(source + 1))] : [],
            localSSRC: SSRC(local), localRetransmissionSSRC: nil)
        let video = NegotiatedMedia(
            mid: "1", kind: .video, direction: .sendReceive, isRejected: false,
            codecs: [
                codec(vp8, "VP8", 90000, ["nack", "nack pli", "ccm fir", "goog-remb"]), codec(rtx, "rtx", 90000),
            ],
            extensions: extensions,
            remoteSources: announcing
                ? [AnnouncedSource(ssrc: SSRC(source + 2), retransmission: SSRC(source + 3))] : [],
            localSSRC: SSRC(local + 1), localRetransmissionSSRC: SSRC(local + 2))
        return NegotiatedLeg(
            transport: NegotiatedTransport(
                local: credentials, remote: credentials, remoteFingerprints: [], role: .server),
            media: [audio, video])
    }

    private static func codec(_ payloadType: Int, _ name: String, _ clockRate: Int, _ feedback: [String] = []) -> Codec
    {
        guard let payloadType = PayloadType(payloadType) else {
            preconditionFailure("the rig's payload types have seven bits")
        }
        return Codec(payloadType: payloadType, name: name, clockRate: clockRate, feedback: feedback)
    }

    mutating func configure(_ side: LegIndex, _ change: (inout NegotiatedLeg) -> Void = { _ in }) {
        var leg = Self.leg(side)
        change(&leg)
        bridge.configure(side, leg, random: &random, at: clock.now)
        collect()
    }

    mutating func peerReady(_ side: LegIndex) {
        bridge.peerReady(side, at: clock.now)
        collect()
    }

    // MARK: Packets

    static func packet(
        ssrc: UInt32, _ number: UInt16, timestamp: UInt32 = 0, payloadType: Int, marker: Bool = false,
        mid: String? = nil,
        payload: [UInt8] = [1, 2, 3, 4]
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(UInt8(mid == nil ? 0x80 : 0x90))
        writer.write(UInt8(payloadType) | (marker ? 0x80 : 0))
        writer.write(number)
        writer.write(timestamp)
        writer.write(ssrc)
        if let mid {
            writer.write(UInt16(0xBEDE))
            let padding = 3 - mid.utf8.count % 4
            writer.write(UInt16((1 + mid.utf8.count + padding) / 4))
            writer.write(midExtension << 4 | UInt8(mid.utf8.count - 1))
            writer.write(mid)
            writer.writeZeros(padding)
        }
        writer.write(payload)
        return writer.bytes
    }

    /// Hands over a packet in a buffer that is larger than the packet, as a worker does.
    mutating func send(_ bytes: [UInt8], from side: LegIndex) -> Outcome {
        var buffer = bytes + [UInt8](repeating: 0xEE, count: 16)
        var span = buffer.mutableSpan
        let relaying = relay(&span, count: bytes.count, from: side)
        collect()
        switch relaying {
        case .drop(let reason): return .dropped(reason)
        case .relay(let receiver, _, let length):
            precondition(receiver == side.other, "there are two legs")
            precondition(
                length <= bytes.count && buffer.suffix(16).allSatisfy { $0 == 0xEE },
                "nothing is written behind the packet")
            return .relayed(Self.parsed(Array(buffer.prefix(length))))
        }
    }

    private static func parsed(_ packet: [UInt8]) -> Packet {
        guard let header = try? RTPHeader(parsing: packet.span) else {
            preconditionFailure("a packet that is sent parses")
        }
        return Packet(
            sequenceNumber: header.sequenceNumber.rawValue, timestamp: header.timestamp.rawValue,
            ssrc: header.ssrc.rawValue,
            marker: header.marker, payloadType: Int(header.payloadType.rawValue),
            payload: Array(packet[header.payloadRange]))
    }

    private mutating func relay(_ packet: inout MutableSpan<UInt8>, count: Int, from side: LegIndex) -> Relaying {
        switch bridge.receive(packet.span.extracting(0..<count), from: side, at: clock.now) {
        case .drop(let reason): .drop(reason)
        case .media(let arrival): bridge.relay(arrival, toReceiver: 0, in: &packet, count: count, at: clock.now)
        }
    }

    mutating func audio(
        _ number: UInt16, timestamp: UInt32 = 0, ssrc: UInt32 = 1001, payloadType: Int = opus, marker: Bool = false,
        from side: LegIndex = .a
    ) -> Outcome {
        send(
            Self.packet(ssrc: ssrc, number, timestamp: timestamp, payloadType: payloadType, marker: marker), from: side)
    }

    mutating func video(
        _ number: UInt16, timestamp: UInt32 = 0, ssrc: UInt32 = 1002, payloadType: Int = vp8, marker: Bool = false,
        from side: LegIndex = .a
    ) -> Outcome {
        send(
            Self.packet(ssrc: ssrc, number, timestamp: timestamp, payloadType: payloadType, marker: marker), from: side)
    }

    /// A retransmission of the packet numbered `original`.
    mutating func retransmission(
        _ number: UInt16, of original: UInt16, timestamp: UInt32 = 0, ssrc: UInt32 = 1003, payloadType: Int = rtx,
        from side: LegIndex = .a
    ) -> Outcome {
        let payload = [UInt8(original >> 8), UInt8(original & 0xFF), 9]
        return send(
            Self.packet(ssrc: ssrc, number, timestamp: timestamp, payloadType: payloadType, payload: payload),
            from: side)
    }

    // MARK: RTCP

    mutating func receive(_ packets: RTCPPacket..., from side: LegIndex) {
        bridge.receiveControl(RTCPCompound(packets).bytes.span, from: side, at: clock.now)
        collect()
    }

    /// Lets time pass and fires what falls due.
    mutating func advance(by duration: Duration) {
        let end = clock.now + duration
        while let deadline = bridge.nextDeadline, deadline.time <= end {
            clock.advance(to: deadline.time)
            bridge.timeout(at: clock.now)
            collect()
        }
        clock.advance(to: end)
    }

    /// What was sent to a side again since the last look.
    mutating func repetitions(to side: LegIndex) -> [Packet] {
        defer { repetitions.removeAll { $0.to == side } }
        return repetitions.filter { $0.to == side }.map(\.packet)
    }

    /// Peer b, or a, reports packets of the gateway's video as lost; the numbers are the gateway's.
    mutating func reportLost(_ numbers: [UInt16], ssrc: UInt32 = 0xB1, from side: LegIndex = .b) {
        receive(
            .genericNACK(GenericNACK(sender: SSRC(9), media: SSRC(ssrc), lost: numbers.map(SequenceNumber.init))),
            from: side)
    }

    /// What was sent to a side since the last look, compound by compound.
    mutating func compounds(to side: LegIndex) -> [RTCPCompound] {
        defer { controlSent.removeAll { $0.to == side } }
        return controlSent.filter { $0.to == side }.map(\.compound)
    }

    /// The same without the reports and descriptions that every compound begins with.
    mutating func feedback(to side: LegIndex) -> [RTCPPacket] {
        compounds(to: side).flatMap(\.packets).filter { packet in
            switch packet {
            case .senderReport, .receiverReport, .sourceDescription: false
            case .goodbye, .genericNACK, .pictureLossIndication, .fullIntraRequest, .estimatedMaximumBitrate,
                .transportFeedback, .other:
                true
            }
        }
    }

    private static func mid(of packet: [UInt8]) -> String? {
        let range = try? RTPHeader(parsing: packet.span).extensionElement(midExtension, in: packet.span)
        return range.map { String(decoding: packet[$0], as: UTF8.self) }
    }

    mutating func collect() {
        while let output = bridge.poll() {
            switch output {
            case .transmitControl(let bytes, let side, _):
                guard let compound = try? RTCPCompound(parsing: bytes.span) else {
                    preconditionFailure("the bridge's RTCP parses")
                }
                controlSent.append((compound, side))
                bridge.recycle(bytes)
            case .transmitMedia(let bytes, let side, _):
                repetitions.append((Self.parsed(bytes), side))
                repeatedMids.append(Self.mid(of: bytes))
                bridge.recycle(bytes)
            case .audioChanged: audioChanges += 1
            }
        }
    }
}

/// The two legs of most tests.
extension LegIndex {
    static let a = LegIndex(0)
    static let b = LegIndex(1)
    static let allCases = [a, b]

    var other: LegIndex { self == .a ? .b : .a }
}
