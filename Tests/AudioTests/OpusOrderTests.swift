import Audio
import Primitives
import TestSupport
import Testing

/// Packets of Opus that are put in order for a file, without being decoded.
struct OpusOrderTests {
    /// A file as it grows, 20 ms after 20 ms.
    private struct Rig {
        var order = OpusOrder()
        var packets: [OpusOrder.Packet] = []
        /// Nearly at the end of the 32 bits.
        static let first = RTPTimestamp(.max - 5_000)

        /// 20 ms in CELT of full band, named by a number; it is not decoded here.
        static func packet(_ number: Int) -> [UInt8] { [31 << 3, UInt8(number), 1, 2] }

        mutating func receive(_ number: Int, at place: Int? = nil) {
            order.insert(Self.packet(number).span, timestamp: Self.first + (place ?? number) * 960)
        }

        /// Packets that come at once.
        mutating func receive(together numbers: Range<Int>) {
            for number in numbers { receive(number) }
        }

        mutating func pass(_ count: Int = 1) {
            for _ in 0..<count { packets += order.pass() }
        }

        /// Packets that come on time, each followed by its 20 ms.
        mutating func receive(_ numbers: Range<Int>) {
            for number in numbers {
                receive(number)
                pass()
            }
        }

        /// The numbers of the packets; `nil` for one without content.
        var numbers: [Int?] { packets.map { $0.bytes.count > 1 ? Int($0.bytes[1]) : nil } }
        var samples: Int { packets.reduce(0) { $0 + $1.samples } }
    }

    @Test func `packets on time come out as they came`() {
        var rig = Rig()
        rig.receive(0..<50)
        rig.packets += rig.order.finish()
        #expect(rig.numbers == (0..<50).map { $0 })
        #expect(rig.packets[7] == OpusOrder.Packet(bytes: Rig.packet(7), samples: 960))
    }

    @Test func `what comes late takes its place, and what comes twice or too late is left out`() {
        var rig = Rig()
        rig.receive(0..<10)
        rig.receive(12)
        rig.receive(11)
        rig.receive(12)
        rig.pass(2)
        rig.receive(10)
        rig.pass()
        #expect(rig.numbers.suffix(4) == [9, 10, 11, 12])
        rig.receive(14)
        rig.pass(5)
        #expect(rig.numbers.suffix(3) == [12, nil, 14], "a packet is lost")
        rig.receive(13)
        rig.receive(15)
        rig.pass()
        #expect(rig.numbers.suffix(2) == [14, 15])
        #expect(rig.samples == 16 * 960)
    }

    @Test func `a gap is as long as the timestamps say, in the mode of the packet before`() {
        var rig = Rig()
        rig.receive(0..<10)
        // Discontinuous transmission: a packet after 400 ms.
        rig.pass(19)
        rig.receive(29)
        rig.pass(6)
        #expect(rig.samples == 30 * 960)
        #expect(rig.numbers.count { $0 == nil } == 19)
        #expect(rig.packets[10] == OpusOrder.Packet(bytes: [31 << 3], samples: 960))
        // SILK, wide band, 60 ms, two channels.
        var silk = OpusOrder()
        silk.insert(([11 << 3 | 4, 9, 9] as [UInt8]).span, timestamp: RTPTimestamp(0))
        var packets: [OpusOrder.Packet] = []
        for _ in 0..<10 { packets += silk.pass() }
        silk.insert(([11 << 3 | 4, 8, 8] as [UInt8]).span, timestamp: RTPTimestamp(2_880 + 2_880 + 1_080))
        for _ in 0..<5 { packets += silk.pass() }
        #expect(packets.map(\.samples) == [2_880, 2_880, 960, 120, 2_880])
        #expect(packets.map { $0.bytes[0] } == [92, 92, 252, 228, 92], "the rest is in a mode that has short frames")
    }

    @Test func `what was left out is no gap`() {
        var rig = Rig()
        rig.receive(0..<10)
        // An hour on hold, without a cycle.
        rig.receive(10, at: 180_000)
        rig.receive(11, at: 180_001)
        rig.pass(6)
        #expect(rig.numbers.compactMap(\.self) == (0..<12).map { $0 })
        #expect(rig.samples <= 12 * 960 + 6 * 960 + 4_800)
    }

    @Test func `while nothing comes the file goes on, and then with what comes`() {
        var rig = Rig()
        rig.pass(150)
        #expect(rig.samples == 50 * 960, "3 s, of which two may still come")
        rig.receive(0..<5)
        rig.pass(500)
        #expect(rig.samples == 555 * 960)
        // Its clock stood still meanwhile. It takes half a second to know that.
        rig.receive(5..<50)
        rig.pass(4)
        #expect(rig.numbers.compactMap(\.self) == Array(0..<5) + Array(30..<50))
        #expect(rig.order.dropped == 25)
        rig.pass(40)
        rig.packets += rig.order.finish()
        let passed = (150 + 5 + 500 + 45 + 44) * 960
        #expect((passed - 4_800...passed).contains(rig.samples))
    }

    @Test func `a stream that begins anew follows the one before`() {
        var rig = Rig()
        rig.receive(0..<5)
        rig.receive(6)
        rig.order.restart()
        rig.receive(7, at: -100_000)
        rig.pass(5)
        #expect(rig.numbers.compactMap(\.self) == [0, 1, 2, 3, 4, 6, 7])
    }

    @Test func `what is no packet of Opus is left out, and a flood is limited`() {
        var rig = Rig()
        for payload in [[], [31 << 3 | 3, 0], [11 << 3 | 3, 63]] as [[UInt8]] {
            rig.order.insert(payload.span, timestamp: RTPTimestamp(0))
        }
        rig.pass(5)
        #expect(rig.packets.isEmpty)
        rig.receive(together: 0..<255)
        rig.pass(5)
        #expect(rig.numbers.compactMap(\.self) == (0..<21).map { $0 }, "300 ms more than the time that has passed")
        #expect(rig.order.dropped == 255 - 21)
    }

    // MARK: The time that passes

    @Test func `what a stalled network brings within two seconds is all there, and the file is as long as the time`() {
        var rig = Rig()
        rig.receive(0..<20)
        rig.pass(60)
        #expect(rig.samples == 20 * 960)
        rig.receive(together: 20..<80)
        rig.receive(80..<90)
        rig.packets += rig.order.finish()
        #expect(rig.numbers == (0..<90).map { $0 })
        #expect(rig.order.dropped == 0)
    }

    @Test func `of what a longer stall brings, the file has what it has not gone on without`() {
        var rig = Rig()
        rig.receive(0..<20)
        rig.pass(150)
        let spoken: [Int?] = (0..<20).map { $0 }
        #expect(rig.numbers == spoken + [Int?](repeating: nil, count: 50), "the last 2 s may still come")
        rig.receive(together: 20..<170)
        rig.receive(170..<180)
        rig.packets += rig.order.finish()
        #expect(rig.numbers.compactMap(\.self) == Array(0..<20) + Array(70..<180))
        #expect(rig.samples == 180 * 960 && rig.order.dropped == 50)
    }

    @Test(arguments: [nil, 1, 10, 64] as [Int?])
    func `a flood makes no more than the time that passes, also if its stream starts again and again`(_ restart: Int?) {
        var order = OpusOrder()
        var (sent, taken, samples) = (0, 0, 0)
        // For a minute 64 packets of 120 ms in 20 ms, with timestamps to match: two frames of 60 ms.
        let payload: [UInt8] = [11 << 3 | 1, 7, 7]
        for cycle in 1...3_000 {
            for number in 0..<64 {
                if let restart, number % restart == 0 { order.restart() }
                order.insert(payload.span, timestamp: RTPTimestamp(0) + sent * 5_760)
                sent += 1
            }
            let packets = order.pass()
            samples += packets.reduce(0) { $0 + $1.samples }
            taken += packets.count { $0.bytes.count > 1 }
            #expect(samples <= cycle * 960 + 14_400)
        }
        let rest = order.finish()
        samples += rest.reduce(0) { $0 + $1.samples }
        taken += rest.count { $0.bytes.count > 1 }
        #expect((3_000 * 960 - 4_920...3_000 * 960 + 14_400).contains(samples))
        #expect(order.dropped == sent - taken)
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
    func `whatever comes, the file is as long as the time that passes`(_ seed: UInt64) {
        var random = SeededRandomSource(seed: seed)
        var order = OpusOrder()
        var timestamp = RTPTimestamp(0)
        var (time, sent, taken, samples) = (0, 0, 0, 0)
        for _ in 0..<5_000 {
            switch Int.random(in: 0..<30, using: &random) {
            case 0: timestamp = timestamp + Int(Int32(bitPattern: random.nextUInt32()))
            case 1: timestamp = timestamp + Int.random(in: -20_000...20_000, using: &random)
            case 2: order.restart()
            case 3:
                let cycles = Int.random(in: 0...120, using: &random)
                order.skip(cycles)
                time += min(cycles, 100) * 960
            case 4..<18:
                // Every mode and length of a frame, once or twice.
                let payload: [UInt8] = [UInt8.random(in: 0...255, using: &random) & 0xFD, 7, 7]
                order.insert(payload.span, timestamp: timestamp)
                timestamp = timestamp + Int.random(in: 1...8, using: &random) * 480
                sent += 1
            default:
                time += 960
                let packets = order.pass()
                samples += packets.reduce(0) { $0 + $1.samples }
                taken += packets.count { $0.bytes.count > 1 }
                #expect(samples <= time + 14_400)
            }
        }
        let rest = order.finish()
        samples += rest.reduce(0) { $0 + $1.samples }
        taken += rest.count { $0.bytes.count > 1 }
        #expect((time - 4_920...time + 14_400).contains(samples))
        #expect(taken > 100 && taken + order.dropped <= sent)
    }

    @Test func `nobody sends more bytes than Opus has`() {
        var order = OpusOrder()
        var bytes = 0
        // Eight packets of 2.5 ms in 20 ms, each as long as a datagram.
        let payload = [28 << 3] + [UInt8](repeating: 7, count: 1_199)
        for cycle in 0..<3_000 {
            for number in 0..<8 {
                order.insert(payload.span, timestamp: RTPTimestamp(0) + (cycle * 8 + number) * 120)
            }
            bytes += order.pass().reduce(0) { $0 + $1.bytes.count }
        }
        let (least, most) = (3_600_000, 4_674_000)
        #expect(bytes >= least && bytes <= most, "600 kbit/s, the burst, and gaps of one byte")
        #expect(order.dropped > 0)
    }

    @Test(arguments: [1 << 30, -(1 << 30), 300_000] as [Int])
    func `one timestamp that is far from the others costs nothing else`(_ jump: Int) {
        var rig = Rig()
        rig.receive(0..<50)
        rig.order.insert(Rig.packet(200).span, timestamp: Rig.first + (50 * 960 + jump))
        rig.receive(50..<150)
        rig.packets += rig.order.finish()
        #expect(rig.numbers.compactMap(\.self) == Array(0..<50) + [200] + Array(50..<150))
        #expect((150 * 960 - 4_800...151 * 960).contains(rig.samples))
        #expect(rig.order.dropped == 0)
    }

    @Test func `a timestamp within five seconds costs half a second`() {
        var rig = Rig()
        rig.receive(0..<50)
        rig.order.insert(Rig.packet(200).span, timestamp: Rig.first + 250 * 960)
        rig.receive(50..<150)
        rig.packets += rig.order.finish()
        let lost = 100 - rig.numbers.suffix(from: 50).count { $0 != nil && $0 != 200 }
        #expect((1...30).contains(lost) && rig.order.dropped == lost)
        #expect(rig.numbers.suffix(50).allSatisfy { $0 != nil })
        #expect((150 * 960 - 4_800...150 * 960 + 14_400).contains(rig.samples))
    }

    @Test func `if the gateway is late, what came before its cycles is there`() {
        var rig = Rig()
        rig.receive(0..<20)
        // A second late: the packets are read first.
        rig.receive(together: 20..<70)
        rig.order.skip(49)
        rig.pass()
        rig.receive(70..<80)
        rig.packets += rig.order.finish()
        #expect(rig.numbers == (0..<80).map { $0 })
        #expect(rig.order.dropped == 0)
        rig.order.skip(1_000_000)
        rig.packets += rig.order.finish()
        #expect(rig.samples <= 180 * 960, "of more than two seconds, two")
    }
}
