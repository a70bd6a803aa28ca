import MediaPlane
import Primitives
import RTP
import SDP
import TestSupport
import Testing

/// What a leg hears and sees can be chosen at any moment; its peer sees one stream.
struct BridgeSourceTests {
    private static let c = LegIndex(2)
    private static let playback = MediaSource.player(1)

    /// A third leg, with sources 3001… and the gateway's SSRCs 0xC0….
    private static func addThird(to rig: inout BridgeRig) {
        precondition(rig.bridge.addLeg(random: &rig.random) == c, "legs take the first free places")
        var leg = BridgeRig.leg(.a)
        for line in leg.media.indices {
            leg.media[line].remoteSources = [AnnouncedSource(ssrc: SSRC(3001 + UInt32(line)))]
            leg.media[line].localSSRC = SSRC(0xC0 + UInt32(line))
        }
        rig.bridge.configure(c, leg, random: &rig.random, at: rig.clock.now)
        rig.bridge.peerReady(c, at: rig.clock.now)
        rig.collect()
    }

    private static func originate(_ rig: inout BridgeRig, ticks: Int = 960) -> RTPHeader {
        guard let opus = PayloadType(BridgeRig.opus) else { preconditionFailure("seven bits") }
        return rig.bridge.originate(
            for: .b, line: 0, opus, clockRate: 48_000, ticks: ticks, octets: 80, isSpurt: false, at: rig.clock.now)
    }

    @Test func `a switch from the peer to a player and back leaves no gap in numbers, and timestamps follow the clock`()
        throws
    {
        var rig = BridgeRig()
        let first = try #require(rig.audio(100, timestamp: 5_000).packet)
        rig.clock.advance(by: .milliseconds(20))
        let second = try #require(rig.audio(101, timestamp: 5_960).packet)
        #expect(second.sequenceNumber == first.sequenceNumber &+ 1)

        rig.clock.advance(by: .milliseconds(20))
        rig.bridge.setSource(Self.playback, of: .audio, for: .b, at: rig.clock.now)
        #expect(rig.audio(102, timestamp: 6_920) == .dropped(.noCounterpart))
        let played = (0..<3).map { _ in
            defer { rig.clock.advance(by: .milliseconds(20)) }
            return Self.originate(&rig)
        }
        #expect(played.map(\.sequenceNumber.rawValue) == (1...3).map { second.sequenceNumber &+ $0 })
        #expect(played.map(\.timestamp.rawValue) == (1...3).map { second.timestamp &+ 960 * $0 })
        #expect(played.map(\.marker) == [true, false, false], "a talk spurt begins")
        #expect(Set(played.map(\.ssrc)) == [SSRC(0xB0)])

        rig.bridge.setSource(.leg(.a), of: .audio, for: .b, at: rig.clock.now)
        let back = try #require(rig.audio(108, timestamp: 12_680).packet)
        #expect(back.sequenceNumber == second.sequenceNumber &+ 4)
        #expect(back.timestamp == second.timestamp &+ 4 * 960)
        #expect(back.marker)
        #expect(back.ssrc == 0xB0)
    }

    @Test func `a pause of the player passes in the timestamps`() {
        var rig = BridgeRig()
        rig.bridge.setSource(Self.playback, of: .audio, for: .b, at: rig.clock.now)
        let first = Self.originate(&rig)
        rig.bridge.setSource(.silence, of: .audio, for: .b, at: rig.clock.now)
        rig.clock.advance(by: .seconds(2))
        rig.bridge.setSource(Self.playback, of: .audio, for: .b, at: rig.clock.now)
        let second = Self.originate(&rig)
        #expect(second.sequenceNumber == first.sequenceNumber + 1)
        #expect(second.timestamp - first.timestamp == 96_000)
        #expect(second.marker)
    }

    @Test func `a new video source is asked for a key frame, and one that stays is not`() throws {
        var rig = BridgeRig()
        Self.addThird(to: &rig)
        _ = rig.video(1)
        _ = rig.send(BridgeRig.packet(ssrc: 3002, 1, payloadType: BridgeRig.vp8), from: .a)
        rig.clock.advance(by: .seconds(1))
        _ = rig.feedback(to: .a)
        _ = rig.compounds(to: Self.c)
        rig.bridge.setSource(.leg(Self.c), of: .video, for: .b, at: rig.clock.now)
        rig.bridge.setSource(.leg(Self.c), of: .video, for: .b, at: rig.clock.now)
        rig.collect()
        #expect(rig.feedback(to: .a) == [])
        // Nothing has been heard of its video yet: there is nobody to ask.
        #expect(rig.feedback(to: Self.c) == [])
        _ = rig.bridge.receive(
            BridgeRig.packet(ssrc: 3002, 9, payloadType: BridgeRig.vp8).span, from: Self.c, at: rig.clock.now)
        rig.bridge.setSource(.leg(.a), of: .video, for: .b, at: rig.clock.now)
        rig.bridge.setSource(.leg(Self.c), of: .video, for: .b, at: rig.clock.now)
        rig.collect()
        #expect(rig.feedback(to: Self.c).count == 1)
    }

    @Test func `one peer's packets go to every leg that has it as its source`() throws {
        var rig = BridgeRig()
        Self.addThird(to: &rig)
        rig.bridge.setSource(.leg(.a), of: .video, for: Self.c, at: rig.clock.now)
        var bytes = BridgeRig.packet(ssrc: 1002, 7, timestamp: 90, payloadType: BridgeRig.vp8)
        let original = bytes
        guard case .media(let arrival) = rig.bridge.receive(bytes.span, from: .a, at: rig.clock.now) else {
            Issue.record("the packet is of use")
            return
        }
        #expect(arrival.receiverCount == 2)
        var sent: [LegIndex: SSRC] = [:]
        for receiver in 0..<arrival.receiverCount {
            bytes = original
            var span = bytes.mutableSpan
            let relaying = rig.bridge.relay(
                arrival, toReceiver: receiver, in: &span, count: original.count, at: rig.clock.now)
            guard case .relay(let index, _, _) = relaying else { continue }
            sent[index] = try RTPHeader(parsing: bytes.span).ssrc
        }
        #expect(sent == [.b: SSRC(0xB1), Self.c: SSRC(0xC1)])
        // The least that any of them can take is what the sender may send.
        rig.receive(
            .estimatedMaximumBitrate(
                EstimatedMaximumBitrate(sender: SSRC(2002), bitsPerSecond: 900_000, sources: [SSRC(0xB1)])), from: .b)
        rig.receive(
            .estimatedMaximumBitrate(
                EstimatedMaximumBitrate(sender: SSRC(3002), bitsPerSecond: 300_000, sources: [SSRC(0xC1)])),
            from: Self.c)
        let estimates = rig.feedback(to: .a).compactMap { packet in
            if case .estimatedMaximumBitrate(let estimate) = packet { estimate.bitsPerSecond } else { nil }
        }
        #expect(estimates == [900_000, 300_000])
    }

    @Test func `who is in the mix is listened to, and sent what is made here`() {
        var rig = BridgeRig()
        Self.addThird(to: &rig)
        for leg in [LegIndex.a, .b, Self.c] { rig.bridge.setSource(.mix, of: .audio, for: leg, at: rig.clock.now) }
        guard
            case .media(let arrival) = rig.bridge.receive(
                BridgeRig.packet(ssrc: 1001, 7, payloadType: BridgeRig.opus).span, from: .a, at: rig.clock.now)
        else {
            Issue.record("the packet is of use")
            return
        }
        #expect(arrival.isDecoded)
        #expect(arrival.isRestart)
        #expect(arrival.receiverCount == 0)
        #expect(rig.bridge.statistics(of: .b).lines[0].feed == .generated)
    }

    @Test func `legs without a common codec hear each other coded anew`() throws {
        let payloadType = try #require(PayloadType(0))
        var rig = BridgeRig(ready: false)
        rig.configure(.a)
        rig.configure(.b) { leg in
            leg.media[0].codecs = [Codec(payloadType: payloadType, name: "PCMU", clockRate: 8_000)]
        }
        for side in LegIndex.allCases { rig.peerReady(side) }
        #expect(
            rig.bridge.statistics(of: .b).lines.map(\.feed) == [
                .transcoded(from: .a, line: 0), .relayed(from: .a, line: 1),
            ])
        guard
            case .media(let arrival) = rig.bridge.receive(
                BridgeRig.packet(ssrc: 1001, 7, payloadType: BridgeRig.opus).span, from: .a, at: rig.clock.now)
        else {
            Issue.record("the packet is of use")
            return
        }
        #expect(arrival.isDecoded)
    }

    /// The gateway's answer to a is about b: RFC 7587 §7.1.
    @Test func `whoever codes for a peer is told what that peer said of its formats`() throws {
        var rig = BridgeRig(ready: false)
        var (agreed, described): ([Codec], [Codec]) = ([], [])
        rig.configure(.a) { leg in
            agreed = leg.media[0].codecs
            described = agreed.map { codec in
                var codec = codec
                codec.parameters = "stereo=1"
                return codec
            }
            leg.media[0].describedCodecs = described
        }
        rig.configure(.b)
        for side in LegIndex.allCases { rig.peerReady(side) }
        #expect(rig.bridge.audio(of: .a)?.codecs == described)
        #expect(rig.bridge.audio(of: .b)?.codecs == agreed)
        #expect(rig.bridge.statistics(of: .b).lines[0].feed == .relayed(from: .a, line: 0))
        rig.configure(.a)
        #expect(rig.bridge.audio(of: .a)?.codecs == agreed)
    }

    // MARK: What an answer leaves out

    private static func codec(_ number: Int, _ name: String, _ clockRate: Int = 8_000) throws -> Codec {
        Codec(payloadType: try #require(PayloadType(number)), name: name, clockRate: clockRate)
    }

    /// libwebrtc sends what is first in the gateway's offer, whatever its own answer says (RFC 3264 §5.1).
    @Test func `audio that its receiver does not know is coded anew from the next packet on`() throws {
        var rig = BridgeRig(ready: false)
        let (pcmu, pcma, opus) = (
            try Self.codec(0, "PCMU"), try Self.codec(8, "PCMA"), try Self.codec(111, "opus", 48_000)
        )
        rig.configure(.a) { leg in
            leg.media[0].codecs = [pcmu, pcma]
            leg.media[0].furtherCodecs = [opus]
        }
        rig.configure(.b) { $0.media[0].codecs = [pcmu] }
        for side in LegIndex.allCases { rig.peerReady(side) }
        #expect(rig.audio(1, payloadType: 0).packet?.payloadType == 0)
        #expect(rig.bridge.audio(of: .a)?.furtherCodecs == [opus])

        var changes = 0
        for (number, payloadType) in [(2, 8), (4, 111)] as [(UInt16, Int)] {
            #expect(rig.audio(number, payloadType: payloadType) == .dropped(.unknownPayloadType))
            changes += 1
            #expect(rig.audioChanges == changes)
            #expect(rig.bridge.audio(of: .b)?.feed == .transcoded(from: .a, line: 0))
            #expect(rig.bridge.audio(of: .a)?.isDecoded == true)
            let next = BridgeRig.packet(ssrc: 1001, number + 1, payloadType: payloadType)
            guard case .media(let arrival) = rig.bridge.receive(next.span, from: .a, at: rig.clock.now) else {
                Issue.record("it is of use")
                return
            }
            #expect(arrival.isDecoded && arrival.receiverCount == 0)
            // What is agreed anew is taken at its word until a packet contradicts it.
            rig.configure(.a) { leg in
                leg.media[0].codecs = [pcmu, pcma]
                leg.media[0].furtherCodecs = [opus]
            }
            #expect(rig.bridge.audio(of: .b)?.feed == .relayed(from: .a, line: 0))
        }
    }

    @Test func `what is left out of an answer is relayed to whoever knows it, and to all others coded anew`() throws {
        var rig = BridgeRig(ready: false)
        let (pcmu, opus) = (try Self.codec(0, "PCMU"), try Self.codec(111, "opus", 48_000))
        rig.configure(.a) { leg in
            leg.media[0].codecs = [pcmu]
            leg.media[0].furtherCodecs = [opus]
        }
        rig.configure(.b) { $0.media[0].codecs = [opus, pcmu] }
        for side in LegIndex.allCases { rig.peerReady(side) }
        #expect(rig.audio(1, payloadType: 111).packet?.payloadType == 111)
        #expect(rig.audio(2, payloadType: 0).packet?.payloadType == 0)
        #expect(rig.audioChanges == 0)
    }

    @Test func `video that its receiver does not know changes nothing`() {
        var rig = BridgeRig(ready: false)
        let vp9 = Codec(payloadType: PayloadType(98)!, name: "VP9", clockRate: 90_000)
        rig.configure(.a) { $0.media[1].codecs.append(vp9) }
        rig.configure(.b)
        for side in LegIndex.allCases { rig.peerReady(side) }
        #expect(rig.video(1, payloadType: 98) == .dropped(.unknownPayloadType))
        #expect(rig.video(2).packet != nil && rig.audioChanges == 0)
    }

    @Test func `a leg that leaves is told, and whoever heard it hears nothing; its place is free again`() {
        var rig = BridgeRig()
        _ = rig.audio(1)
        rig.bridge.removeLeg(.a, at: rig.clock.now)
        rig.collect()
        #expect(rig.compounds(to: .a).flatMap(\.packets).contains { if case .goodbye = $0 { true } else { false } })
        #expect(rig.bridge.statistics(of: .b).lines[0].feed == .nothing)
        #expect(rig.bridge.indices == [.b])
        #expect(rig.bridge.addLeg(random: &rig.random) == .a)
    }

    @Test func `there is room for as many legs as a mix can be made of`() {
        var rig = BridgeRig()
        for _ in 2..<Bridge.maximumLegs { #expect(rig.bridge.addLeg(random: &rig.random) != nil) }
        #expect(rig.bridge.addLeg(random: &rig.random) == nil)
    }
}
