import MediaPlane
import Primitives
import RTP
import SDP
import TestSupport
import Testing

/// Telephone events between legs that share their audio and count events at different rates (RFC 4733 §2.1).
@Suite struct BridgeEventTests {
    /// An event packet without what is the same in all of a test.
    struct Step: Equatable, Sendable, CustomStringConvertible {
        /// Ticks of the audio since the digit was pressed.
        var timestamp: UInt32 = 0
        var duration: UInt16
        var isEnd = false
        var isMarked = false

        var description: String { "\(timestamp)+\(duration)\(isEnd ? " end" : "")\(isMarked ? " marked" : "")" }
    }

    private static let slow = 8_000
    private static let fast = 48_000
    private static let numbers = [slow: 126, fast: 110]
    /// When the digit is pressed, on the sender's clock.
    private static let start: UInt32 = 0xFFFF_F000

    private static func rig(_ a: [Int], _ b: [Int]) throws -> BridgeRig {
        func codecs(_ rates: [Int]) throws -> [Codec] {
            [Codec(payloadType: try #require(PayloadType(BridgeRig.opus)), name: "opus", clockRate: fast, channels: 2)]
                + (try rates.map { rate in
                    let number = try #require(numbers[rate].flatMap(PayloadType.init))
                    return Codec(payloadType: number, name: "telephone-event", clockRate: rate)
                })
        }
        let (first, second) = (try codecs(a), try codecs(b))
        var rig = BridgeRig(ready: false)
        rig.configure(.a) { $0.media[0].codecs = first }
        rig.configure(.b) { $0.media[0].codecs = second }
        for side in LegIndex.allCases { rig.peerReady(side) }
        return rig
    }

    /// What b gets of a digit that a presses, behind a packet of audio.
    private static func relayed(_ steps: [Step], from sent: [Int], to known: [Int]) throws -> (
        payloadTypes: Set<Int>, steps: [Step]
    ) {
        var rig = try rig(sent, known)
        let audio = try #require(rig.audio(99, timestamp: start &- 960).packet)
        let number = try #require(numbers[sent[0]])
        let packets: [BridgeRig.Packet] = try steps.enumerated().map { index, step in
            let payload: [UInt8] = [
                5, (step.isEnd ? 0x80 : 0) | 10, UInt8(step.duration >> 8), UInt8(step.duration & 0xFF),
            ]
            let packet = BridgeRig.packet(
                ssrc: 1001, UInt16(100 + index), timestamp: start &+ step.timestamp, payloadType: number,
                marker: step.isMarked,
                payload: payload)
            return try #require(rig.send(packet, from: .a).packet)
        }
        let received: [Step] = try packets.map { packet in
            let parsed = TelephoneEvent(parsing: packet.payload.span)
            let event = try #require(parsed)
            #expect(event.event == 5 && event.volume == 10)
            return Step(
                timestamp: packet.timestamp &- audio.timestamp &- 960, duration: event.duration, isEnd: event.isEnd,
                isMarked: packet.marker)
        }
        return (Set(packets.map(\.payloadType)), received)
    }

    private static func press(_ ticks: UInt16, at timestamp: UInt32 = 0) -> [Step] {
        [Step(timestamp: timestamp, duration: ticks, isMarked: true), Step(timestamp: timestamp, duration: 2 * ticks)]
            + [Step](repeating: Step(timestamp: timestamp, duration: 5 * ticks, isEnd: true), count: 3)
    }

    @Test func `only telephone events, and the first packet of a source, concern the digits that a peer presses`() {
        var rig = BridgeRig()
        let packets: [(ssrc: UInt32, payloadType: Int, expected: Bool)] = [
            (1001, BridgeRig.opus, true), (1001, BridgeRig.opus, false), (1001, BridgeRig.telephoneEvent, true),
            (1001, BridgeRig.telephoneEvent, true), (1001, BridgeRig.opus, false), (7777, BridgeRig.opus, true),
            (7777, BridgeRig.opus, false),
        ]
        for (place, sent) in packets.enumerated() {
            let packet = BridgeRig.packet(
                ssrc: sent.ssrc, UInt16(100 + place), timestamp: UInt32(place) * 960, payloadType: sent.payloadType)
            guard case .media(let arrival) = rig.bridge.receive(packet.span, from: .a, at: rig.clock.now) else {
                Issue.record("packet \(place) is dropped")
                continue
            }
            #expect(arrival.concernsDigits == sent.expected, "packet \(place)")
            #expect(arrival.isTelephoneEvent == (sent.payloadType == BridgeRig.telephoneEvent), "packet \(place)")
        }
    }

    @Test func `a digit reaches a receiver that counts faster under its number and as long as it was pressed`() throws {
        let heard = try Self.relayed(Self.press(160), from: [Self.slow], to: [Self.fast])
        #expect(heard.payloadTypes == [110])
        #expect(heard.steps == Self.press(960))
    }

    @Test func `a digit reaches a receiver that counts slower under its number and as long as it was pressed`() throws {
        let heard = try Self.relayed(Self.press(960), from: [Self.fast], to: [Self.slow])
        #expect(heard.payloadTypes == [126])
        #expect(heard.steps == Self.press(160))
    }

    @Test(arguments: [([slow], [fast, slow]), ([fast], [slow, fast]), ([slow, fast], [fast, slow])])
    func `a digit whose rate the receiver knows is passed on as it is`(_ sent: [Int], _ known: [Int]) throws {
        let heard = try Self.relayed(Self.press(960), from: sent, to: known)
        #expect(heard.payloadTypes == [try #require(Self.numbers[sent[0]])])
        #expect(heard.steps == Self.press(960))
    }

    @Test func `the same digit again is another one, also when the end of the first is lost`() throws {
        let steps = Array(Self.press(160).prefix(2)) + Self.press(160, at: 9_600)
        #expect(
            try Self.relayed(steps, from: [Self.slow], to: [Self.fast]).steps == Array(Self.press(960).prefix(2))
                + Self.press(960, at: 9_600))
    }

    // MARK: Digits that are too long for one segment (RFC 4733 §2.5.1.3)

    private static let marked = Step(duration: 960, isMarked: true)

    /// Two seconds at 48 kHz.
    @Test(
        arguments: [
            (
                "whole",
                [
                    marked, Step(duration: 0xFFFF), Step(timestamp: 0xFFFF, duration: 480),
                    Step(timestamp: 0xFFFF, duration: 30_465, isEnd: true),
                    Step(timestamp: 0xFFFF, duration: 30_465, isEnd: true),
                ],
                [
                    Step(duration: 160, isMarked: true), Step(duration: 10_922), Step(duration: 11_002),
                    Step(duration: 16_000, isEnd: true),
                    Step(duration: 16_000, isEnd: true),
                ]
            ),
            (
                "cut late, as libwebrtc does",
                [marked, Step(duration: 0xFFFF), Step(timestamp: 66_240, duration: 960)],
                [Step(duration: 160, isMarked: true), Step(duration: 10_922), Step(duration: 11_200)]
            ),
            (
                "a late packet of the first segment",
                [
                    marked, Step(timestamp: 0xFFFF, duration: 480), Step(duration: 48_000),
                    Step(timestamp: 0xFFFF, duration: 960),
                ],
                [
                    Step(duration: 160, isMarked: true), Step(duration: 11_002), Step(duration: 8_000),
                    Step(duration: 11_082),
                ]
            ),
            (
                "three segments",
                [
                    marked, Step(timestamp: 0xFFFF, duration: 480),
                    Step(timestamp: 2 * 0xFFFF, duration: 960, isEnd: true),
                ],
                [Step(duration: 160, isMarked: true), Step(duration: 11_002), Step(duration: 22_005, isEnd: true)]
            ),
            (
                "another digit a segment later",
                [marked, Step(duration: 960, isEnd: true), Step(timestamp: 0xFFFF, duration: 960)],
                [
                    Step(duration: 160, isMarked: true), Step(duration: 160, isEnd: true),
                    Step(timestamp: 0xFFFF, duration: 160),
                ]
            ),
            (
                "another digit a segment later, the end lost",
                [marked, Step(timestamp: 0xFFFF, duration: 960, isMarked: true)],
                [Step(duration: 160, isMarked: true), Step(timestamp: 0xFFFF, duration: 160, isMarked: true)]
            ),
        ] as [(String, [Step], [Step])])
    func `the segments of a long digit are one for a receiver that counts slower`(
        _ name: String, _ steps: [Step], _ expected: [Step]
    ) throws {
        #expect(try Self.relayed(steps, from: [Self.fast], to: [Self.slow]).steps == expected, "\(name)")
    }

    @Test func `a long digit takes several segments to a receiver that counts faster`() throws {
        let steps = [
            Step(duration: 160, isMarked: true), Step(duration: 10_922), Step(duration: 10_923), Step(duration: 16_000),
            Step(duration: 32_000, isEnd: true),
        ]
        #expect(
            try Self.relayed(steps, from: [Self.slow], to: [Self.fast]).steps == [
                Self.marked, Step(duration: 65_532), Step(timestamp: 0xFFFF, duration: 3),
                Step(timestamp: 0xFFFF, duration: 30_465),
                Step(timestamp: 2 * 0xFFFF, duration: 60_930, isEnd: true),
            ])
    }

    // MARK: Odd ones

    @Test func `a payload that is too short for an event is passed on as it is`() throws {
        var rig = try Self.rig([Self.slow], [Self.fast])
        let packet = BridgeRig.packet(ssrc: 1001, 1, payloadType: 126, payload: [5, 10, 1])
        let relayed = try #require(rig.send(packet, from: .a).packet)
        #expect(relayed.payloadType == 110 && relayed.payload == [5, 10, 1])
    }

    @Test func `a clock rate that no audio has is not translated`() throws {
        var rig = try Self.rig([Self.slow], [Self.fast])
        rig.configure(.b) { leg in
            var codecs = BridgeRig.leg(.b).media[0].codecs
            codecs[0].channels = 2
            codecs[1].clockRate = 4_000_000_000
            leg.media[0].codecs = codecs
        }
        #expect(rig.audio(1, payloadType: 126) == .dropped(.unknownPayloadType))
    }
}
