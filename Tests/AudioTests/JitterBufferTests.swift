import Audio
import Primitives
import TestSupport
import Testing

struct JitterBufferTests {
    private static func payload(_ index: Int, size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: index &* 31 &+ $0) }
    }

    private static func copy(_ payload: Span<UInt8>) -> [UInt8] { payload.indices.map { payload[$0] } }

    @Test func `packets of 2.5 ms can wait for half a second, and those of 120 ms as well`() {
        for (duration, size) in [(120, 10), (960, 1_276), (5_760, 1_500)] {
            var buffer = JitterBuffer()
            let needed = 24_000 / duration
            for index in 0..<needed {
                let outcome = buffer.insert(
                    Self.payload(index, size: size).span, number: SequenceNumber(UInt16(index)),
                    position: Int64(index * duration),
                    sampleCount: duration, played: 0)
                #expect(outcome == .accepted)
            }
            #expect(buffer.end == Int64(needed * duration))
        }
    }

    @Test func `a payload larger than a datagram is refused, and so is one without a duration`() {
        var buffer = JitterBuffer()
        let large = [UInt8](repeating: 0, count: JitterBuffer.maximumPayload + 1)
        #expect(
            buffer.insert(large.span, number: SequenceNumber(1), position: 0, sampleCount: 960, played: 0) == .refused)
        #expect(
            buffer.insert(
                large.span.extracting(0..<10), number: SequenceNumber(1), position: 1, sampleCount: 0, played: 0)
                == .refused)
        #expect(buffer.count == 0)
    }

    @Test(arguments: [1, 2, 3] as [UInt64]) func `payloads stay what they were, whatever comes and goes around them`(
        _ seed: UInt64
    ) {
        var random = SeededRandomSource(seed: seed)
        var buffer = JitterBuffer()
        var (played, next) = (Int64(0), 0)
        var sizes: [Int: Int] = [:]
        for _ in 0..<20_000 {
            if random.next() % 2 == 0 {
                // One of the next few, not always in order.
                let index = next + Int(random.next() % 8)
                next += 1
                let size = Int(random.next() % 1_501)
                let outcome = buffer.insert(
                    Self.payload(index, size: size).span, number: SequenceNumber(UInt16(truncatingIfNeeded: index)),
                    position: Int64(index * 960), sampleCount: 960, played: played)
                if outcome == .accepted { sizes[index] = size }
            } else if buffer.count > 0 {
                let packet = buffer.removeFirst()
                let index = Int(packet.position) / 960
                played = packet.position + 960
                let size = sizes.removeValue(forKey: index) ?? -1
                let payload = buffer.payload(of: packet)
                #expect(payload.count == size)
                let expected = Self.payload(index, size: size)
                #expect(payload.indices.allSatisfy { payload[$0] == expected[$0] }, "seed \(seed), packet \(index)")
            }
        }
        #expect(sizes.count == buffer.count)
    }

    /// As many bytes as may wait, in packets that came in the order given, and then one in for one out.
    @Test(arguments: [150, 400, 1_276], [false, true])
    func `a buffer that is full of bytes moves them no more than three times, whatever the order`(
        _ size: Int, _ isReversed: Bool
    ) {
        var buffer = JitterBuffer()
        let count = JitterBuffer.byteLimit / size
        let payload = Self.payload(0, size: size)
        func insert(_ index: Int, _ buffer: inout JitterBuffer) -> JitterBuffer.Insertion {
            buffer.insert(
                payload.span, number: SequenceNumber(UInt16(truncatingIfNeeded: index)), position: Int64(index * 960),
                sampleCount: 960, played: 0)
        }
        var outcomes: [JitterBuffer.Insertion] = []
        for index in 0..<count { outcomes.append(insert(isReversed ? count - 1 - index : index, &buffer)) }
        #expect(outcomes.allSatisfy { $0 == .accepted })
        let next = insert(count, &buffer)
        #expect(next == .refused)
        #expect(buffer.moves == 0)
        let packets = 5_000
        for index in count..<(count + packets) {
            _ = buffer.removeFirst()
            let outcome = insert(index, &buffer)
            #expect(outcome == .accepted)
        }
        // Each time all bytes that wait are moved, at most `byteLimit`.
        #expect(
            Int(buffer.moves) * JitterBuffer.byteLimit <= 3 * packets * size + JitterBuffer.byteLimit, "\(buffer.moves)"
        )
    }

    @Test func `payloads that came in the reverse order are the same after they have been moved together`() {
        var buffer = JitterBuffer()
        let count = 200
        for index in (0..<count).reversed() {
            let payload = Self.payload(index, size: 100 + index % 90)
            let outcome = buffer.insert(
                payload.span, number: SequenceNumber(UInt16(index)), position: Int64(index * 960), sampleCount: 960,
                played: 0)
            #expect(outcome == .accepted)
        }
        for index in 0..<count {
            let packet = buffer.removeFirst()
            #expect(Self.copy(buffer.payload(of: packet)) == Self.payload(index, size: 100 + index % 90), "\(index)")
            let later = [UInt8](repeating: 9, count: 140)
            _ = buffer.insert(
                later.span, number: SequenceNumber(UInt16(count + index)), position: Int64((count + index) * 960),
                sampleCount: 960, played: 0)
        }
        #expect(buffer.moves > 0)
    }
}
