import MediaPlane
import Primitives
import TestSupport
import Testing

/// How many sources of a peer are deciphered.
@Suite struct SourceGateTests {
    private var clock = VirtualClock()

    /// Lets a source in as a worker does; whether it came in.
    private func offer(
        _ source: UInt32, to gate: inout SourceGate, known: Set<UInt32> = [], freed: inout [UInt32],
        at now: MonotonicTime
    ) -> Bool {
        let source = SSRC(source)
        if gate.knows(source) { return true }
        guard gate.hasRoom(forAnnounced: known.contains(source.rawValue), at: now) else { return false }
        if let gone = gate.enter(source, at: now, isAnnounced: { known.contains($0.rawValue) }) {
            freed.append(gone.rawValue)
        }
        return true
    }

    @Test mutating func `100,000 sources take no more room than a hundred, and few of them get in`() {
        var (gate, freed, admitted) = (SourceGate(), [UInt32](), 0)
        // 3,000 a second.
        for number in 0..<100_000 as Range<UInt32> {
            clock.advance(by: .microseconds(333))
            if offer(number, to: &gate, freed: &freed, at: clock.now) { admitted += 1 }
            #expect(gate.count <= 96)
        }
        #expect(admitted == 32 + 66)
        #expect(freed.count == admitted - gate.count, "whoever does not stay is freed")
        #expect(Set(freed).count == freed.count)
    }

    @Test mutating func `sources that a description announces come in at any time, and are the last to go`() {
        var (gate, freed) = (SourceGate(), [UInt32]())
        let announced = Set<UInt32>(1_000..<1_064)
        for number in announced.sorted() {
            #expect(offer(number, to: &gate, known: announced, freed: &freed, at: clock.now) == true)
        }
        for number in 0..<10_000 as Range<UInt32> {
            clock.advance(by: .seconds(1))
            #expect(offer(number + 2_000, to: &gate, known: announced, freed: &freed, at: clock.now) == true)
        }
        #expect(announced.allSatisfy { gate.knows(SSRC($0)) })
        #expect(gate.count == 96)
    }

    @Test mutating func `a peer that changes its source now and then, with three streams and their repairs, goes on`() {
        var (gate, freed) = (SourceGate(), [UInt32]())
        for round in 0..<1_000 as Range<UInt32> {
            for stream in 0..<6 as Range<UInt32> {
                #expect(offer(round * 10 + stream, to: &gate, freed: &freed, at: clock.now) == true)
            }
            clock.advance(by: .seconds(5))
        }
    }

    @Test mutating func `a source that had to go may come back`() {
        var (gate, freed) = (SourceGate(), [UInt32]())
        for number in 0..<97 as Range<UInt32> {
            clock.advance(by: .seconds(1))
            #expect(offer(number, to: &gate, freed: &freed, at: clock.now) == true)
        }
        #expect(freed == [0])
        clock.advance(by: .seconds(1))
        #expect(offer(0, to: &gate, freed: &freed, at: clock.now) == true)
        #expect(freed == [0, 1])
    }
}
