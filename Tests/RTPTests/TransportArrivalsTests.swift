import Primitives
import RTP
import TestSupport
import Testing

@Suite struct TransportArrivalsTests {
    /// Packets that came at some millisecond, and the feedback about them.
    private struct Rig {
        var arrivals = TransportArrivals()

        mutating func receive(_ number: UInt16, at milliseconds: Int) {
            arrivals.packetReceived(SequenceNumber(number), at: .zero + .milliseconds(milliseconds))
        }

        mutating func feedback() -> [TransportFeedback] {
            var all: [TransportFeedback] = []
            while let feedback = arrivals.nextFeedback(sender: SSRC(1), media: SSRC(2)) { all.append(feedback) }
            return all
        }

        /// What the sender makes of it: milliseconds by number.
        mutating func understood() -> [UInt16: Int?] {
            var known: [UInt16: Int?] = [:]
            for feedback in feedback() {
                var ticks = Int(feedback.reference) * 256
                for (index, delta) in feedback.deltas.enumerated() {
                    if let delta { ticks += Int(delta) }
                    known[(feedback.base + index).rawValue] = .some(delta == nil ? nil : ticks / 4)
                }
            }
            return known
        }
    }

    @Test(
        arguments: [
            ("in order", [(1, 1000), (2, 1005), (3, 1010)], [1: 1000, 2: 1005, 3: 1010]),
            ("a loss", [(1, 1000), (3, 1010)], [1: 1000, 2: nil, 3: 1010]),
            ("reordered", [(1, 1000), (3, 1010), (2, 1011)], [1: 1000, 2: 1011, 3: 1010]),
            ("the first overtaken", [(3, 1010), (2, 1011)], [2: 1011, 3: 1010]),
            ("doubled", [(1, 1000), (1, 1500), (2, 1005)], [1: 1000, 2: 1005]),
            ("wrapped", [(65_535, 1000), (0, 1005), (1, 1006)], [65_535: 1000, 0: 1005, 1: 1006]),
            ("at the origin of the clock", [(5, 64), (6, 65)], [5: 64, 6: 65]),
            ("far behind", [(2_000, 1000), (900, 1001)], [2_000: 1000]),
            ("a jump begins anew", [(10, 1000), (9_000, 1001)], [9_000: 1001]),
        ] as [(String, [(UInt16, Int)], [UInt16: Int?])])
    func `what came is told`(_ name: String, _ packets: [(UInt16, Int)], _ known: [UInt16: Int?]) {
        var rig = Rig()
        for (number, time) in packets { rig.receive(number, at: time) }
        #expect(rig.understood() == known)
        #expect(rig.feedback().isEmpty, "once")
    }

    @Test func `losses between two reports are told, and what comes late is told again`() {
        var rig = Rig()
        rig.receive(1, at: 1000)
        _ = rig.feedback()
        rig.receive(4, at: 1100)
        #expect(rig.understood() == [2: nil, 3: nil, 4: 1100])
        rig.receive(3, at: 1150)
        rig.receive(5, at: 1160)
        #expect(rig.understood() == [3: 1150, 4: 1100, 5: 1160])
    }

    @Test func `a pause that no delta can tell begins another packet`() {
        var rig = Rig()
        rig.receive(1, at: 1000)
        rig.receive(2, at: 9_100)
        rig.receive(3, at: 20_000)
        let feedback = rig.feedback()
        #expect(feedback.map(\.deltas.count) == [2, 1])
        #expect(feedback.map(\.count) == [0, 1])
        #expect(feedback.map(\.base) == [SequenceNumber(1), SequenceNumber(3)])
    }

    @Test func `what is due fits a datagram, whatever came`() {
        var rig = Rig()
        for number in 0..<UInt16(1_024) {
            #expect(rig.arrivals.isDue == (number >= 400))
            // Back and forth in time, so that every delta takes two bytes.
            rig.receive(number, at: 1_000_000 + (number.isMultiple(of: 2) ? 500 : 0))
        }
        let feedback = rig.feedback()
        #expect(feedback.map(\.deltas.count) == [400, 400, 224])
        for feedback in feedback { #expect(RTCPCompound([.transportFeedback(feedback)]).bytes.count <= 1_100) }
        #expect(!rig.arrivals.isDue)
    }

    @Test func `reference time and count wrap`() {
        var rig = Rig()
        // 2²³ references of 64 ms are 149 hours: the sign changes.
        for second in [536_870, 536_871] {
            rig.receive(UInt16(second % 7), at: second * 1_000)
            #expect(rig.feedback().first?.reference.signum() == (second == 536_870 ? 1 : -1))
        }
        for number in 0..<UInt16(300) {
            rig.receive(number + 10, at: 540_000_000 + Int(number))
            #expect(rig.feedback().first?.count == UInt8(truncatingIfNeeded: number + 2))
        }
    }

    @Test(arguments: [5, 19, 83] as [UInt64])
    func `over a bad network, everything that came within reach is told as it came`(_ seed: UInt64) {
        var random = SeededRandomSource(seed: seed)
        var rig = Rig()
        var (came, told): ([UInt16: Int], [UInt16: Int?]) = ([:], [:])
        for step in 0..<20_000 {
            let number = UInt16(truncatingIfNeeded: 64_000 + step - Int(random.next() % 20))
            if random.next() % 100 < 90 {
                rig.receive(number, at: 5_000 + 3 * step)
                if came[number] == nil { came[number] = 5_000 + 3 * step }
            }
            if step % 40 == 39 { told.merge(rig.understood()) { _, new in new } }
        }
        told.merge(rig.understood()) { _, new in new }
        #expect(told.compactMapValues { $0 } == came, "seed \(seed)")
    }
}
