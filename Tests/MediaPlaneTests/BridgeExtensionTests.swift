import MediaPlane
import Primitives
import RTP
import SDP
import TestSupport
import Testing

/// Header extension elements of legs that agreed on other ids (RFC 8285 §5).
@Suite struct BridgeExtensionTests {
    private static let mid = "urn:ietf:params:rtp-hdrext:sdes:mid"
    private static let level = "urn:ietf:params:rtp-hdrext:ssrc-audio-level"
    private static let sendTime = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"
    private static let transportNumber = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"

    /// The sender's: audio level, a send time, a mid.
    private static let elements: [UInt8] = [0x10, 0x85, 0x22, 7, 8, 9, 0x40, UInt8(ascii: "0")]
    private static let ofSender = [
        HeaderExtension(id: 1, uri: level), HeaderExtension(id: 2, uri: sendTime), HeaderExtension(id: 4, uri: mid),
    ]

    /// What becomes of the elements of a packet from `a` to `b`.
    private static func relayed(
        _ elements: [UInt8], from sender: [HeaderExtension], to receiver: [HeaderExtension], mid: String = "0"
    ) throws -> [UInt8] {
        var rig = BridgeRig(ready: false)
        rig.configure(.a) { for index in $0.media.indices { $0.media[index].extensions = sender } }
        rig.configure(.b) {
            for index in $0.media.indices { $0.media[index].extensions = receiver }
            $0.media[0].mid = mid
        }
        for side in LegIndex.allCases { rig.peerReady(side) }
        var packet = BridgeRig.packet(ssrc: 1001, 1, payloadType: BridgeRig.opus, payload: [])
        packet[0] = 0x90
        packet += [0xBE, 0xDE, 0, UInt8(elements.count / 4)] + elements + [0x10, 0x20, 0x40]
        let count = packet.count
        guard case .media(let arrival) = rig.bridge.receive(packet.span, from: .a, at: rig.clock.now) else { return [] }
        var span = packet.mutableSpan
        let relaying = rig.bridge.relay(arrival, toReceiver: 0, in: &span, count: count, at: rig.clock.now)
        #expect(relaying == .relay(to: .b, over: .first, count: count))
        #expect(packet.suffix(3) == [0x10, 0x20, 0x40], "the payload stays")
        return Array(packet[16..<(count - 3)])
    }

    @Test(
        arguments: [
            // The same ids: nothing changes, not even what nobody has negotiated.
            (ofSender, "0", elements),
            // Other ids for the same.
            (
                [.init(id: 7, uri: level), .init(id: 1, uri: sendTime), .init(id: 14, uri: mid)], "0",
                [0x70, 0x85, 0x12, 7, 8, 9, 0xE0, UInt8(ascii: "0")]
            ),
            // The sender's ids with other meanings.
            (
                [.init(id: 2, uri: level), .init(id: 1, uri: mid)], "0",
                [0x20, 0x85, 0, 0, 0, 0, 0x10, UInt8(ascii: "0")]
            ),
            // Nothing negotiated, or not in our direction, or under an id that does not fit.
            ([], "0", [0, 0, 0, 0, 0, 0, 0, 0]),
            (
                [
                    .init(id: 1, uri: level, direction: .receiveOnly), .init(id: 20, uri: sendTime),
                    .init(id: 4, uri: mid),
                ], "0",
                [0, 0, 0, 0, 0, 0, 0x40, UInt8(ascii: "0")]
            ),
            // The receiver calls the m-line something else.
            (ofSender, "audio", [0x10, 0x85, 0x22, 7, 8, 9, 0, 0]),
        ] as [([HeaderExtension], String, [UInt8])])
    func `elements come under the ids that the receiver agreed on, or not at all`(
        _ receiver: [HeaderExtension], _ mid: String, _ expected: [UInt8]
    ) throws {
        #expect(try Self.relayed(Self.elements, from: Self.ofSender, to: receiver, mid: mid) == expected)
    }

    @Test func `a transport-wide number is not taken for what the receiver knows under its id`() throws {
        let counted = Self.ofSender + [HeaderExtension(id: 3, uri: Self.transportNumber, direction: .receiveOnly)]
        let receiver = [HeaderExtension(id: 3, uri: Self.level), HeaderExtension(id: 2, uri: Self.sendTime)]
        let elements: [UInt8] = [0x31, 1, 2, 0x10, 0x85, 0, 0, 0]
        #expect(try Self.relayed(elements, from: counted, to: receiver) == [0, 0, 0, 0x30, 0x85, 0, 0, 0])
    }

    @Test func `elements that nobody negotiated pass between legs that agree, as they did`() throws {
        let elements: [UInt8] = [0x10, 0x85, 0x90, 5]
        #expect(try Self.relayed(elements, from: Self.ofSender, to: Self.ofSender) == elements)
        #expect(
            try Self.relayed(elements, from: Self.ofSender, to: [.init(id: 9, uri: Self.level)]) == [
                0x90, 0x85, 0, 0,
            ])
    }
}
