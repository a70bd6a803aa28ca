import MediaPlane
import Primitives
import RTP
import SDP
import Testing

/// Digits of one leg as another that is coded anew hears them (RFC 4733 §2.5.1).
struct PassedOnDigitTests {
    private struct Way: Sendable {
        var from: [Codec]
        var to: [Codec]
        var source: Int { from.last?.clockRate ?? 0 }
        var target: Int { to.last?.clockRate ?? 0 }
    }

    private static let ways = [
        Way(from: [.opus(), .events48], to: [.pcmu, .events8]),
        Way(from: [.pcmu, .events8], to: [.opus(), .events48]),
        Way(from: [.g722, .events8], to: [.pcma, .events8]), Way(from: [.opus(), .events8], to: [.pcmu, .events8]),
    ]
    /// Which of a digit's packets come, by their place; the ends are the last three.
    enum Fate: CaseIterable, Sendable {
        case all, firstLost, everyOtherLost, twoEndsLost, doubled, endsLost, onlyLastEnd

        func copies(_ place: Int, of count: Int) -> Int {
            switch self {
            case .all: 1
            case .firstLost: place == 0 ? 0 : 1
            case .everyOtherLost: place % 2
            case .twoEndsLost: place == count - 3 || place == count - 2 ? 0 : 1
            case .doubled: 2
            case .endsLost: place >= count - 3 ? 0 : 1
            case .onlyLastEnd: place == count - 1 ? 1 : 0
            }
        }
    }

    /// Presses `4`, then `4`, each for so many milliseconds with 380 between them, a packet every 20; returns what b is
    /// sent of them.
    private static func pressed(_ milliseconds: Int, _ way: Way, _ fate: Fate) -> [EngineRig.Sent] {
        var rig = EngineRig(a: way.from, b: way.to)
        let payloadType = way.from[1].payloadType
        let ticks = way.source / 1_000
        var (start, remaining) = (0, 2)
        while remaining > 0 {
            let steps = milliseconds / 20
            for place in 0..<(steps + 3) {
                let (isEnd, length) = (place >= steps, min(place + 1, steps) * 20 * ticks)
                // Beyond 16 bits another segment begins.
                let segment = length > 0xFFFF ? 0xFFFF : 0
                let event = TelephoneEvent(digit: "4", isEnd: isEnd, duration: UInt16(length - segment))
                var payload = [UInt8](repeating: 0, count: TelephoneEvent.size)
                var span = payload.mutableSpan
                event.write(to: &span)
                for _ in 0..<fate.copies(place, of: steps + 3) {
                    rig.receive(
                        payload, payloadType: Int(payloadType.rawValue), timestamp: UInt32(start * ticks + segment),
                        marker: place == 0)
                }
                rig.runCycle()
            }
            rig.run(cycles: 16)
            start += milliseconds + 380
            remaining -= 1
        }
        return rig.sent.filter { $0.payloadType == Int(way.to[1].payloadType.rawValue) }
    }

    /// What a receiver makes of them.
    private static func heard(_ sent: [EngineRig.Sent], clockRate: Int) -> [(digit: Character, length: Int)] {
        var digits: [(digit: Character, length: Int)] = []
        var last: (timestamp: UInt32, before: Int)?
        for packet in sent {
            guard let event = TelephoneEvent(parsing: packet.payload.span), let digit = event.digit else { continue }
            if packet.marker {
                digits.append((digit, 0))
                last = (packet.timestamp, 0)
            } else if let known = last, packet.timestamp != known.timestamp {
                last = (packet.timestamp, known.before + Int(packet.timestamp &- known.timestamp))
            }
            guard !digits.isEmpty, let last else { continue }
            digits[digits.count - 1].length = last.before + Int(event.duration)
        }
        return digits.map { ($0.digit, $0.length * 1_000 / clockRate) }
    }

    /// The way, milliseconds, and what comes of the packets.
    private static let presses: [(way: Int, milliseconds: Int, fate: Fate)] =
        ways.indices.map { ($0, 100, .all) } + Fate.allCases.flatMap { [(0, 60, $0), (1, 220, $0)] } + [
            (0, 1_600, .doubled), (1, 1_600, .firstLost),
        ]

    @Test(arguments: presses) func `a digit lasts as long as its sender says, in the receiver's rate`(
        _ press: (way: Int, milliseconds: Int, fate: Fate)
    ) {
        let way = Self.ways[press.way]
        let sent = Self.pressed(press.milliseconds, way, press.fate)
        let digits = Self.heard(sent, clockRate: way.target)
        #expect(digits.map(\.digit) == ["4", "4"])
        #expect(digits.allSatisfy { $0.length == press.milliseconds }, "\(digits)")
        #expect(sent.count { $0.payload[1] & 0x80 != 0 } == 6)
    }

    @Test func `it begins with its first packet, and ends soon after its last`() throws {
        let way = Self.ways[1]
        let sent = Self.pressed(300, way, .all)
        #expect(sent.first?.cycle == 0)
        let end = try #require(sent.first { $0.payload[1] & 0x80 != 0 })
        #expect(15...16 ~= end.cycle)
        let lost = try #require(Self.pressed(300, way, .endsLost).first { $0.payload[1] & 0x80 != 0 })
        #expect(lost.cycle <= 15 + 10)
    }
}
