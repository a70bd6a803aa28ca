import MediaPlane
import Primitives
import RTP
import SDP
import TestSupport
import Testing

/// How loud relayed audio is, as its sender says (RFC 6464): read for statistics, and passed on to whoever agreed on
/// it.
@Suite struct BridgeLevelTests {
    private static func mapping(_ id: UInt8, _ direction: MediaDirection = .sendReceive) -> [HeaderExtension] {
        [HeaderExtension(id: id, uri: HeaderExtension.audioLevel, direction: direction)]
    }

    private static func rig(_ sender: [HeaderExtension], to receiver: [HeaderExtension] = []) -> BridgeRig {
        var rig = BridgeRig(ready: false)
        for (side, extensions) in [(LegIndex.a, sender), (.b, receiver)] {
            rig.configure(side) { for index in $0.media.indices { $0.media[index].extensions = extensions } }
        }
        for side in LegIndex.allCases { rig.peerReady(side) }
        return rig
    }

    private static func packet(
        _ number: UInt16, _ elements: [UInt8], profile: UInt16 = 0xBEDE, ssrc: UInt32 = 1001,
        payloadType: Int = BridgeRig.opus
    ) -> [UInt8] {
        var packet = BridgeRig.packet(ssrc: ssrc, number, payloadType: payloadType, payload: [])
        packet[0] = 0x90
        let padding = [UInt8](repeating: 0, count: (4 - elements.count % 4) % 4)
        packet += [UInt8(profile >> 8), UInt8(profile & 0xFF), 0, UInt8((elements.count + 3) / 4)] + elements + padding
        return packet + [1, 2, 3, 4]
    }

    /// Of audio: what a says, and what b hears.
    private static func levels(_ rig: BridgeRig) -> [UInt8?] {
        [rig.bridge.statistics(of: .a).lines[0].inboundLevel, rig.bridge.statistics(of: .b).lines[0].outboundLevel].map
        { $0?.decibelsBelow }
    }

    @Test(
        arguments: [
            // One-byte headers (RFC 8285 §4.2): alone, behind another, with and without the V bit.
            (0xBEDE, [0x10, 0x1E], 30), (0xBEDE, [0x52, 7, 8, 9, 0x10, 0x9E], 30), (0xBEDE, [0x10, 0xFF], 127),
            (0xBEDE, [0x10, 0x80], 0),
            // Two-byte headers (§4.3).
            (0x1000, [1, 1, 0x1E], 30), (0x1000, [9, 0, 1, 1, 0x9E], 30),
            // Of another length, cut short, under another id, or of another profile.
            (0xBEDE, [0x11, 0x1E, 0x1E], nil), (0xBEDE, [0x1F, 0x1E], nil), (0x1000, [1, 0], nil),
            (0x1000, [1, 2, 0x1E, 0x1E], nil),
            (0x1000, [1, 9, 0x1E], nil), (0xBEDE, [0x20, 0x1E], nil), (0xABAC, [0x10, 0x1E], nil),
        ] as [(UInt16, [UInt8], UInt8?)])
    func `what a packet says is what both statistics say`(_ profile: UInt16, _ elements: [UInt8], _ expected: UInt8?) {
        var rig = Self.rig(Self.mapping(1))
        #expect(Self.levels(rig) == [nil, nil])
        #expect(
            rig.send(Self.packet(1, elements, profile: profile), from: .a).packet != nil,
            "the packet passes whatever it has")
        #expect(Self.levels(rig) == [expected, expected])
        #expect(rig.bridge.audioStatistics(of: .a)?.inboundLevel?.decibelsBelow == expected)
        #expect(rig.bridge.audioStatistics(of: .b)?.outboundLevel?.decibelsBelow == expected)
        for side in LegIndex.allCases {
            #expect(rig.bridge.statistics(of: side).lines[1].inboundLevel == nil, "video has none")
        }
        #expect(
            rig.bridge.statistics(of: .b).lines[0].inboundLevel == nil
                && rig.bridge.statistics(of: .a).lines[0].outboundLevel == nil)
    }

    @Test(arguments: [[], mapping(1, .sendOnly), mapping(2)]) func `what was not agreed on is not read`(
        _ agreed: [HeaderExtension]
    ) {
        var rig = Self.rig(agreed)
        _ = rig.send(Self.packet(1, [0x10, 0x1E]), from: .a)
        #expect(Self.levels(rig) == [nil, nil])
    }

    @Test func `the newest packet that says anything counts`() {
        var rig = Self.rig(Self.mapping(1))
        for (number, elements, expected) in [
            (10, [0x10, 0x1E], 30), (12, [0x10, 0x28], 40), (11, [0x10, 0x32], 40), (13, [0x20, 0x32], 40),
            (14, [0x11, 1, 1], 40),
            (15, [0x10, 0x05], 5),
        ] as [(UInt16, [UInt8], UInt8)] {
            _ = rig.send(Self.packet(number, elements), from: .a)
            #expect(Self.levels(rig) == [expected, expected], "\(number)")
        }
    }

    @Test func `the level of audio is not looked for in video`() {
        var rig = Self.rig(Self.mapping(1))
        _ = rig.send(Self.packet(1, [0x10, 0x1E], ssrc: 1002, payloadType: BridgeRig.vp8), from: .a)
        for side in LegIndex.allCases {
            for line in rig.bridge.statistics(of: side).lines {
                #expect(line.inboundLevel == nil && line.outboundLevel == nil)
            }
        }
    }

    @Test(
        arguments: [
            (mapping(1), [0x10, 0x9E, 0, 0]), (mapping(7), [0x70, 0x9E, 0, 0]),
            (mapping(1, .receiveOnly), [0, 0, 0, 0]), ([], [0, 0, 0, 0]),
        ] as [([HeaderExtension], [UInt8])])
    func `it goes on under the receiver's id, and to nobody who did not agree on it`(
        _ receiver: [HeaderExtension], _ expected: [UInt8]
    ) {
        var rig = Self.rig(Self.mapping(1), to: receiver)
        var packet = Self.packet(1, [0x10, 0x9E])
        let count = packet.count
        guard case .media(let arrival) = rig.bridge.receive(packet.span, from: .a, at: rig.clock.now) else {
            Issue.record("the packet is of use")
            return
        }
        var span = packet.mutableSpan
        let relaying = rig.bridge.relay(arrival, toReceiver: 0, in: &span, count: count, at: rig.clock.now)
        #expect(relaying == .relay(to: .b, over: .first, count: count))
        #expect(Array(packet[16..<20]) == expected)
        #expect(Self.levels(rig) == [30, 30], "b hears it all the same")
    }

    @Test func `who is held says nothing, and who hears somebody else hears their level`() {
        var rig = Self.rig(Self.mapping(1), to: Self.mapping(1))
        _ = rig.send(Self.packet(1, [0x10, 0x1E]), from: .a)
        rig.configure(.a) {
            for index in $0.media.indices { $0.media[index].extensions = Self.mapping(1) }
            $0.media[0].direction = .sendOnly
        }
        #expect(Self.levels(rig) == [nil, nil])
        rig.configure(.a) { for index in $0.media.indices { $0.media[index].extensions = Self.mapping(1) } }
        _ = rig.send(Self.packet(2, [0x10, 0x1F]), from: .a)
        #expect(Self.levels(rig) == [31, 31])
        rig.bridge.setSource(.silence, of: .audio, for: .b, at: rig.clock.now)
        #expect(Self.levels(rig) == [31, nil])
    }

    @Test func `who agrees on something else later is not known any more`() {
        var rig = Self.rig(Self.mapping(1))
        _ = rig.send(Self.packet(1, [0x10, 0x1E]), from: .a)
        rig.configure(.a) { for index in $0.media.indices { $0.media[index].extensions = [] } }
        #expect(Self.levels(rig) == [nil, nil])
    }
}
