import Audio
import CallControl
import CallRuntime
import MediaServer
import PeerSupport
import Primitives
import RTP
import SDP
import Testing

/// Video in a mix over real sockets: a leg that comes from another worker sees who speaks, though nobody else begins
/// to.
struct ConferenceVideoTests {
    private let guest = LegID(2)

    /// What a leg's video comes as.
    private static func sends(_ leg: LegID) -> SSRC { SSRC(leg == .caller ? 0x5000 : leg == .callee ? 0x5001 : 0x5002) }

    private static func packet(from leg: LegID, _ number: UInt16) -> [UInt8] {
        var packet = [UInt8](repeating: 0, count: RTPHeader.fixedLength + 8)
        let header = RTPHeader(
            marker: true, payloadType: PayloadType(96)!, sequenceNumber: SequenceNumber(number),
            timestamp: RTPTimestamp(UInt32(number) * 1_800),
            ssrc: sends(leg))
        var span = packet.mutableSpan
        header.writeNew(to: &span)
        return packet
    }

    private static func hasVideo(_ peer: LoopbackPeer) -> Bool { peer.received.contains { $0[1] & 0x7F == 96 } }

    private static func hasSound(_ peer: LoopbackPeer) -> Bool {
        peer.received.contains {
            $0[1] & 0x7F == 0 && $0.dropFirst(RTPHeader.fixedLength).contains { abs(Int(G711.muLaw.decode($0))) > 300 }
        }
    }

    private static func wasAskedForKeyFrame(_ peer: LoopbackPeer, of leg: LegID) -> Bool {
        peer.receivedControl.contains { bytes in
            guard let compound = try? RTCPCompound(parsing: bytes.span) else { return false }  // is looked at elsewhere
            return compound.packets.contains { packet in
                guard case .pictureLossIndication(let indication) = packet else { return false }
                return indication.media == sends(leg)
            }
        }
    }

    /// Lets this happen again and again, and all peers go on meanwhile, those too that have nothing to say: whoever
    /// sends no checks is gone after a while (RFC 7675).
    private static func happens(_ rig: MovingRig, until condition: () -> Bool, _ step: () throws -> Void = {}) throws
        -> Bool
    {
        for _ in 0..<1_000 where !condition() {
            try step()
            for peer in rig.peers { _ = try peer.run(for: .milliseconds(5)) }
        }
        return condition()
    }

    @Test func `a leg from another worker sees who speaks, who is asked for a key frame`() throws {
        var rig = try MovingRig()
        try rig.establish()
        var number: UInt16 = 0
        let (listener, speaker, adopted) = (rig.a, rig.b, rig.d)
        for (leg, peer) in [(LegID.caller, listener), (.callee, speaker)] {
            rig.connect(
                leg, peer, MovingRig.credentials(of: leg, MovingRig.first), in: MovingRig.first, video: Self.sends(leg))
            rig.server.send(.route(leg, .mix), for: MovingRig.first)
        }
        // Only a mix says something when nobody does.
        for peer in [listener, speaker] { peer.clear() }
        #expect(try Self.happens(rig, until: { listener.received.count > 10 && speaker.received.count > 10 }))
        listener.clear()
        let isHeard = try Self.happens(rig, until: { Self.hasVideo(listener) && Self.hasSound(listener) }) {
            number += 1
            try rig.send(from: speaker)
            try speaker.send(Self.packet(from: .callee, number))
        }
        #expect(isHeard)
        speaker.clear()
        // Nobody says anything more.
        rig.server.send(.adopt(.callee, from: MovingRig.second, as: guest), for: MovingRig.first)
        rig.server.send(.route(guest, .mix), for: MovingRig.first)
        rig.connect(
            guest, adopted, MovingRig.credentials(of: .callee, MovingRig.second), in: MovingRig.first,
            video: Self.sends(guest))
        let isSeen = try Self.happens(
            rig, until: { Self.hasVideo(adopted) && Self.wasAskedForKeyFrame(speaker, of: .callee) }
        ) {
            number += 1
            try speaker.send(Self.packet(from: .callee, number))
        }
        #expect(isSeen)
        for call in [MovingRig.first, MovingRig.second] { rig.server.send(.release, for: call) }
        rig.server.stop()
    }
}
