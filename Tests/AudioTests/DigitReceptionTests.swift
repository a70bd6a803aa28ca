import Audio
import Primitives
import RTP
import Testing

/// What is made of a peer's event packets (RFC 4733 §2.5.2).
@Suite struct DigitReceptionTests {
    struct Packet: Sendable {
        var digit: Character = "5"
        var timestamp: UInt32
        var duration: UInt16
        var isEnd = false
        var isMarked = false
    }

    private static func changes(_ packets: [Packet], clockRate: Int) -> [DigitReception.Change] {
        var digits = DigitReception()
        return packets.compactMap { packet in
            let event = TelephoneEvent(digit: packet.digit, isEnd: packet.isEnd, duration: packet.duration)
            return digits.receive(
                event, isMarked: packet.isMarked, at: RTPTimestamp(packet.timestamp), clockRate: clockRate)
        }
    }

    /// One press of 100 ms at 8 kHz, as browsers send it.
    private static let press: [Packet] = [
        Packet(timestamp: 1_000, duration: 160, isMarked: true), Packet(timestamp: 1_000, duration: 320),
        Packet(timestamp: 1_000, duration: 640),
        Packet(timestamp: 1_000, duration: 800, isEnd: true), Packet(timestamp: 1_000, duration: 800, isEnd: true),
        Packet(timestamp: 1_000, duration: 800, isEnd: true),
    ]
    private static let next = Packet(digit: "6", timestamp: 2_600, duration: 160, isMarked: true)
    private static let nextStarted = DigitReception.Change.started("6", length: 960, isEnd: false)

    @Test(
        arguments: [
            (
                "whole", press,
                [
                    .started("5", length: 960, isEnd: false), .lasts(length: 1_920), .lasts(length: 3_840),
                    .ended(length: 4_800),
                ]
            ),
            (
                "the first lost", Array(press.dropFirst()),
                [.started("5", length: 1_920, isEnd: false), .lasts(length: 3_840), .ended(length: 4_800)]
            ),
            ("only the last end", Array(press.suffix(1)), [.started("5", length: 4_800, isEnd: true)]),
            (
                "no end", Array(press.prefix(3)) + [next],
                [.started("5", length: 960, isEnd: false), .lasts(length: 1_920), .lasts(length: 3_840), nextStarted]
            ),
            (
                "everything twice", press.flatMap { [$0, $0] },
                [
                    .started("5", length: 960, isEnd: false), .lasts(length: 1_920), .lasts(length: 3_840),
                    .ended(length: 4_800),
                ]
            ),
            (
                "out of order", [press[1], press[0], press[3], press[2], press[4]],
                [.started("5", length: 1_920, isEnd: false), .ended(length: 4_800)]
            ),
            (
                "late ones of the digit before", [press[0], press[3], next, press[4], press[5]],
                [.started("5", length: 960, isEnd: false), .ended(length: 4_800), nextStarted]
            ),
            (
                "the same digit again, without its marker",
                [press[0], press[3], Packet(timestamp: 2_600, duration: 320)],
                [
                    .started("5", length: 960, isEnd: false), .ended(length: 4_800),
                    .started("5", length: 1_920, isEnd: false),
                ]
            ),
            (
                "another event under the same timestamp",
                [press[0], Packet(digit: "6", timestamp: 1_000, duration: 320)],
                [.started("5", length: 960, isEnd: false)]
            ),
            (
                "no length at all", [Packet(timestamp: 7, duration: 0), Packet(timestamp: 7, duration: 0)],
                [.started("5", length: 0, isEnd: false)]
            ),
        ] as [(String, [Packet], [DigitReception.Change])])
    func `a digit is told of once, with what is known of its length`(
        _ name: String, _ packets: [Packet], _ expected: [DigitReception.Change]
    ) {
        #expect(Self.changes(packets, clockRate: 8_000) == expected, "\(name)")
        // Timestamps that wrap change nothing.
        let wrapping = packets.map { packet in
            var packet = packet
            packet.timestamp &-= 1_500
            return packet
        }
        #expect(Self.changes(wrapping, clockRate: 8_000) == expected, "\(name)")
    }

    /// Two seconds at 48 kHz (RFC 4733 §2.5.1.3).
    private static let long: [Packet] = [
        Packet(timestamp: 0, duration: 960, isMarked: true), Packet(timestamp: 0, duration: 65_000),
        Packet(timestamp: 0, duration: 65_535),
        Packet(timestamp: 65_535, duration: 500), Packet(timestamp: 65_535, duration: 30_465, isEnd: true),
    ]

    @Test(
        arguments: [
            (
                "whole", long,
                [
                    .started("5", length: 960, isEnd: false), .lasts(length: 65_000), .lasts(length: 65_535),
                    .lasts(length: 66_035), .ended(length: 96_000),
                ]
            ),
            (
                "the last of the first segment and the first of the second lost", [long[0], long[1], long[4]],
                [.started("5", length: 960, isEnd: false), .lasts(length: 65_000), .ended(length: 96_000)]
            ),
            (
                "a late one of the segment before", [long[0], long[3], long[2], long[4]],
                [.started("5", length: 960, isEnd: false), .lasts(length: 66_035), .ended(length: 96_000)]
            ),
            // What looks like a segment but is a press of its own.
            (
                "marked", [long[0], Packet(timestamp: 65_535, duration: 500, isMarked: true)],
                [.started("5", length: 960, isEnd: false), .started("5", length: 500, isEnd: false)]
            ),
            (
                "after an end", [long[0], Packet(timestamp: 0, duration: 60_000, isEnd: true), long[3]],
                [
                    .started("5", length: 960, isEnd: false), .ended(length: 60_000),
                    .started("5", length: 500, isEnd: false),
                ]
            ),
            (
                "another digit", [long[0], Packet(digit: "6", timestamp: 65_535, duration: 500)],
                [.started("5", length: 960, isEnd: false), .started("6", length: 500, isEnd: false)]
            ),
            (
                "too early", [long[0], Packet(timestamp: 20_000, duration: 500)],
                [.started("5", length: 960, isEnd: false), .started("5", length: 500, isEnd: false)]
            ),
        ] as [(String, [Packet], [DigitReception.Change])])
    func `a digit that is held for longer than an event can say is one digit`(
        _ name: String, _ packets: [Packet], _ expected: [DigitReception.Change]
    ) {
        #expect(Self.changes(packets, clockRate: 48_000) == expected, "\(name)")
    }

    @Test func `another source begins anew, whatever its timestamps`() {
        var digits = DigitReception()
        let event = TelephoneEvent(digit: "5", isEnd: false, duration: 160)
        #expect(digits.receive(event, isMarked: true, at: RTPTimestamp(5_000), clockRate: 8_000) != nil)
        #expect(digits.receive(event, isMarked: true, at: RTPTimestamp(4_000), clockRate: 8_000) == nil)
        digits.restart()
        #expect(
            digits.receive(event, isMarked: true, at: RTPTimestamp(4_000), clockRate: 8_000)
                == .started("5", length: 960, isEnd: false))
    }

    // MARK: Pressed again

    /// What a queue says in each step; `changes` come before the step with their number.
    private static func pressed(_ changes: [Int: [DigitReception.Change]], steps: Int) -> [(
        digit: Character, length: Int, isEnd: Bool
    )?] {
        var queue = DigitQueue()
        return (0..<steps).map { step in
            for change in changes[step] ?? [] where !queue.follow(change) { return nil }
            guard case .event(let event) = queue.next() else { return nil }
            return (event.digit, event.length, event.isEnd)
        }
    }

    @Test func `a digit is pressed for as long as it is pressed elsewhere, and says no more than is known`() {
        let said = Self.pressed(
            [0: [.started("5", length: 960, isEnd: false)], 2: [.lasts(length: 2_880)], 4: [.ended(length: 4_100)]],
            steps: 9)
        #expect(said.map { $0?.length } == [960, 960, 2_880, 2_880, 4_100, 4_100, 4_100, 4_100, nil])
        #expect(said.map { $0?.isEnd } == [false, false, false, false, false, true, true, true, nil])
    }

    @Test func `a digit of which only the end has come is pressed for its length`() {
        let said = Self.pressed([0: [.started("5", length: 2_000, isEnd: true)]], steps: 7)
        #expect(said.map { $0?.length } == [960, 1_920, 2_000, 2_000, 2_000, 2_000, nil])
        #expect(said.map { $0?.isEnd } == [false, false, false, true, true, true, nil])
    }

    @Test func `a digit whose end is lost ends after a while, with the length told last`() throws {
        let said = Self.pressed([0: [.started("5", length: 960, isEnd: false)], 1: [.lasts(length: 1_900)]], steps: 30)
            .compactMap(\.self)
        #expect(Set(said.map(\.length)) == [960, 1_900])
        #expect(said.count(where: \.isEnd) == 3)
        #expect(said.count { !$0.isEnd } <= 1 + Int(DigitQueue.patience / .milliseconds(20)))
    }

    @Test func `the next digit ends one whose end is lost, and news of the former no longer count`() {
        let said = Self.pressed(
            [
                0: [.started("5", length: 960, isEnd: false)], 1: [.started("6", length: 960, isEnd: false)],
                2: [.ended(length: 1_920)],
            ], steps: 12)
        #expect(said.map { $0.map { String($0.digit) } ?? "" }.joined() == "555566666")
        #expect(said.map { $0?.length ?? 0 } == [960, 960, 960, 960, 960, 1_920, 1_920, 1_920, 1_920, 0, 0, 0])
    }

    @Test func `a digit behind others waits for them and keeps its length`() {
        var queue = DigitQueue("1", duration: .milliseconds(40), gap: .milliseconds(60))
        let isTaken = queue.follow(.started("5", length: 960, isEnd: false)) && queue.follow(.ended(length: 3_000))
        #expect(isTaken)
        var lengths: [Character: Int] = [:]
        while case .event(let step) = queue.next() { lengths[step.digit] = step.length }
        #expect(lengths == ["1": 1_920, "5": 3_000])
    }

    // MARK: Too many

    /// The digits that are pressed, in order.
    private static func digits(_ queue: DigitQueue) -> String {
        var (queue, digits) = (queue, "")
        while true {
            switch queue.next() {
            case .event(let step): if step.isFirst { digits.append(step.digit) }
            case .pause: break
            case .done: return digits
            }
        }
    }

    @Test func `no more digits of somebody else wait than half a minute's, and the first are pressed`() {
        var queue = DigitQueue()
        var pressed = ""
        var dropped = 0
        for number in 0..<200_000 {
            let digit = Character(String(number % 10))
            if queue.follow(.started(digit, length: 960, isEnd: number.isMultiple(of: 2))) {
                pressed.append(digit)
            } else {
                dropped += 1
            }
            // What is told of a digit that had no room changes none of the others.
            _ = queue.follow(.lasts(length: 1_000_000))
            _ = queue.follow(.ended(length: number.isMultiple(of: 3) ? 960 : 1_920))
        }
        #expect(pressed.count == DigitQueue.followedCapacity && dropped == 200_000 - DigitQueue.followedCapacity)
        #expect(Self.digits(queue) == pressed)
    }

    @Test func `digits that are asked for find room as a whole, or none of them is there`() {
        var queue = DigitQueue(String(repeating: "1", count: 100), duration: .milliseconds(40), gap: .milliseconds(40))
        let (many, few) = (
            DigitQueue(String(repeating: "2", count: 29), duration: .milliseconds(40), gap: .milliseconds(40)),
            DigitQueue("34", duration: .milliseconds(40), gap: .milliseconds(40))
        )
        let answers = [queue.append(many), queue.append(few), queue.append(many)]
        #expect(answers == [false, true, false])
        #expect(Self.digits(queue) == String(repeating: "1", count: 100) + "34")
        while queue.count > 90 { _ = queue.next() }
        let isTaken = queue.append(many)
        #expect(isTaken)
    }
}
