import MediaPlane
import Primitives
import RTP
import SDP
import TestSupport
import Testing

/// Legs with an m-line per transport (docs/adr/0007). Here it is that of peer b, whose video is on the second.
struct BridgeTransportTests {
    static let second = TransportNumber(ofLine: 1)

    static func spread(_ leg: inout NegotiatedLeg) {
        leg.media[1].transport = second
        leg.furtherTransports[second] = leg.transport
    }

    static func rig(announcing: Bool = true, _ change: (inout NegotiatedLeg) -> Void = { _ in }) -> BridgeRig {
        var rig = BridgeRig(ready: false)
        rig.configure(.a)
        rig.configure(.b) { leg in
            spread(&leg)
            if !announcing { for line in leg.media.indices { leg.media[line].remoteSources = [] } }
            change(&leg)
        }
        rig.peerReady(.a)
        rig.peerReady(.b)
        return rig
    }

    /// Takes the outputs with their transports.
    static func controls(_ bridge: inout Bridge) -> [(compound: RTCPCompound, to: LegIndex, over: TransportNumber)] {
        var controls: [(compound: RTCPCompound, to: LegIndex, over: TransportNumber)] = []
        while let output = bridge.poll() {
            if case .transmitControl(let bytes, let leg, let transport) = output,
                let compound = try? RTCPCompound(parsing: bytes.span)
            {
                controls.append((compound, leg, transport))
            }
        }
        return controls
    }

    private func ready() -> BridgeRig {
        var rig = Self.rig()
        rig.bridge.peerReady(.b, over: Self.second, at: rig.clock.now)
        rig.collect()
        return rig
    }

    private func relaying(_ packet: [UInt8], _ rig: inout BridgeRig) -> Relaying? {
        var bytes = packet
        var span = bytes.mutableSpan
        guard case .media(let arrival) = rig.bridge.receive(packet.span, from: .a, at: rig.clock.now),
            arrival.receiverCount == 1
        else {
            return nil
        }
        return rig.bridge.relay(arrival, toReceiver: 0, in: &span, count: packet.count, at: rig.clock.now)
    }

    @Test
    func `each m-line is sent over its transport`() {
        var rig = ready()
        #expect(
            relaying(BridgeRig.packet(ssrc: 1001, 1, payloadType: BridgeRig.opus), &rig)
                == .relay(to: .b, over: .first, count: 16))
        #expect(
            relaying(BridgeRig.packet(ssrc: 1002, 1, payloadType: BridgeRig.vp8), &rig)
                == .relay(to: .b, over: Self.second, count: 16))
    }

    @Test
    func `video waits for its transport and begins with a key frame`() {
        var rig = Self.rig()
        #expect(rig.audio(1).packet != nil)
        #expect(rig.video(1) == .dropped(.peerNotReady))
        _ = rig.feedback(to: .a)
        rig.bridge.peerReady(.b, over: Self.second, at: rig.clock.now)
        rig.collect()
        #expect(rig.feedback(to: .a).contains { if case .pictureLossIndication = $0 { true } else { false } })
        #expect(rig.video(2).packet != nil)
    }

    @Test
    func `one payload type means the m-line of the transport that it comes over`() {
        var rig = Self.rig(announcing: false) { leg in
            leg.media[0].extensions = []
            leg.media[1].extensions = []
            leg.media[1].codecs = [Codec(payloadType: PayloadType(BridgeRig.opus)!, name: "VP8", clockRate: 90_000)]
        }
        for (ssrc, transport, line) in [(7, TransportNumber.first, 0), (8, Self.second, 1)]
            as [(UInt32, TransportNumber, Int)]
        {
            let packet = BridgeRig.packet(ssrc: ssrc, 1, payloadType: BridgeRig.opus)
            _ = rig.bridge.receive(packet.span, from: .b, over: transport, at: rig.clock.now)
            #expect(rig.bridge.statistics(of: .b).lines.map(\.packetsReceived) == (line == 0 ? [1, 0] : [1, 1]))
        }
    }

    @Test
    func `what is announced for one transport does not count on another`() {
        var rig = ready()
        let packet = BridgeRig.packet(ssrc: 2002, 1, payloadType: BridgeRig.vp8)
        guard case .drop(.unknownSource) = rig.bridge.receive(packet.span, from: .b, over: .first, at: rig.clock.now)
        else {
            Issue.record("the source is that of the other transport")
            return
        }
        guard case .media = rig.bridge.receive(packet.span, from: .b, over: Self.second, at: rig.clock.now) else {
            Issue.record("the source is known here")
            return
        }
    }

    @Test
    func `reports, feedback and goodbyes go over the transport that they are about`() {
        var rig = ready()
        _ = rig.audio(1)
        _ = rig.video(1)
        rig.clock.advance(by: .seconds(10))
        rig.bridge.timeout(at: rig.clock.now)
        rig.bridge.end(at: rig.clock.now)
        let toB = Self.controls(&rig.bridge).filter { $0.to == .b }
        #expect(toB.count == 4, "a report and a goodbye for each")
        for (compound, _, transport) in toB {
            for packet in compound.packets {
                switch packet {
                case .senderReport(let report): #expect(report.ssrc == (transport == .first ? SSRC(0xB0) : SSRC(0xB1)))
                case .goodbye(let goodbye):
                    #expect(goodbye.sources == (transport == .first ? [SSRC(0xB0)] : [SSRC(0xB1), SSRC(0xB2)]))
                default: break
                }
            }
        }
    }

    @Test
    func `numbers of packets count on the transports where they are agreed`() {
        var rig = Self.rig { leg in
            leg.media[0].extensions = []
            leg.media[1].extensions = [
                HeaderExtension(
                    id: BridgeRig.midExtension, uri: HeaderExtension.transportSequenceNumber, direction: .receiveOnly)
            ]
            leg.media[1].codecs[0].feedback.append(Codec.transportFeedback)
        }
        rig.bridge.peerReady(.b, over: Self.second, at: rig.clock.now)
        rig.collect()
        for (ssrc, payloadType, transport) in [
            (2001, BridgeRig.opus, TransportNumber.first), (2002, BridgeRig.vp8, Self.second),
        ]
            as [(UInt32, Int, TransportNumber)]
        {
            // A MID of two bytes under the id of the numbers.
            let packet = BridgeRig.packet(ssrc: ssrc, 1, payloadType: payloadType, mid: "00")
            _ = rig.bridge.receive(packet.span, from: .b, over: transport, at: rig.clock.now)
            rig.clock.advance(by: .milliseconds(200))
            rig.bridge.timeout(at: rig.clock.now)
            let feedback = Self.controls(&rig.bridge).filter { control in
                control.to == .b
                    && control.compound.packets.contains { if case .transportFeedback = $0 { true } else { false } }
            }
            #expect(feedback.map(\.over) == (transport == .first ? [] : [Self.second]))
        }
    }
}
