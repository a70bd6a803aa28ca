import Audio
import Primitives
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
        rig.pass(100)
        #expect((48_000...96_000).contains(rig.samples), "2 s, of which the last may still come")
        rig.receive(0)
        rig.pass(4)
        rig.receive(1..<5)
        rig.pass(500)
        let waited = rig.samples
        // Its clock stood still meanwhile.
        rig.receive(5..<10)
        rig.pass(4)
        #expect(rig.numbers.compactMap(\.self) == (0..<10).map { $0 })
        #expect(rig.samples == waited + 5 * 960)
        rig.pass(40)
        rig.packets += rig.order.finish()
        let passed = (100 + 8 + 500 + 9 + 40) * 960
        #expect((passed - 48_000 - 2 * 4_800...passed).contains(rig.samples), "a second of it, where its clock stood")
    }

    @Test func `a stream that begins anew follows the one before`() {
        var rig = Rig()
        rig.receive(0..<5)
        rig.receive(6)
        rig.packets += rig.order.restart()
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
        for number in 0..<255 { rig.receive(number) }
        rig.pass(5)
        #expect(rig.numbers.compactMap(\.self) == (0..<64).map { $0 })
    }
}
