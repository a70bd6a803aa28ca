import MediaPlane
import Primitives
import TestSupport
import Testing

@Suite struct BridgeSequenceTests {
    enum Step {
        /// A source begins with this number.
        case start(UInt16)
        /// Its number becomes this one, or has no place.
        case pass(UInt16, UInt16?)
        /// An outgoing number is the source's, or nobody's.
        case back(UInt16, UInt16?)
    }

    @Test(
        arguments: [
            // One source: a constant offset, gaps and reordering included.
            ([.start(100), .pass(100, 501), .pass(101, 502), .pass(104, 505), .pass(102, 503), .pass(104, 505)], 500),
            // The first source may reach a little back.
            ([.start(100), .pass(100, 501), .pass(99, 500), .pass(36, 437), .pass(35, nil)], 500),
            // A switch goes on by one; what is older than the new one's first packet has no place.
            ([.start(100), .pass(100, 501), .start(7), .pass(7, 502), .pass(6, nil), .pass(8, 503)], 500),
            // A gap at the end of a source does not show.
            ([.start(100), .pass(103, 504), .start(7), .pass(7, 505), .start(100), .pass(100, 506)], 500),
            // Wraps: of the source, of the outgoing number, of both at once.
            ([.start(65535), .pass(65535, 501), .pass(0, 502), .pass(65534, 500)], 500),
            ([.start(7), .pass(7, 65535), .pass(8, 0), .pass(7, 65535), .back(0, 8), .back(65535, 7)], 65534),
            ([.start(65535), .pass(65535, 0), .pass(0, 1), .start(65535), .pass(65535, 2), .pass(0, 3)], 65535),
            // Back-translation knows the present source only, and only what it has sent.
            ([.start(100), .pass(100, 501), .pass(103, 504), .back(502, 101), .back(504, 103), .back(505, nil)], 500),
            (
                [
                    .start(100), .pass(101, 502), .start(7), .pass(7, 503), .back(502, nil), .back(503, 7),
                    .back(504, nil),
                ], 500
            ),
            ([.back(500, nil), .back(501, nil)], 500),
        ] as [([Step], UInt16)])
    func `sources are mapped into one series`(_ steps: [Step], _ lastUsed: UInt16) {
        var mapping = SequenceMapping(lastUsed: SequenceNumber(lastUsed))
        for step in steps {
            switch step {
            case .start(let number): mapping.start(at: SequenceNumber(number))
            case .pass(let number, let expected):
                #expect(mapping.translate(SequenceNumber(number))?.rawValue == expected, "\(step)")
            case .back(let number, let expected):
                #expect(mapping.source(of: SequenceNumber(number))?.rawValue == expected, "\(step)")
            }
        }
    }

    @Test func `a source that stays for long keeps its offset and its reach`() {
        var mapping = SequenceMapping(lastUsed: SequenceNumber(0))
        mapping.start(at: SequenceNumber(0))
        for step in 0..<200_000 {
            let number = UInt16(truncatingIfNeeded: step)
            #expect(mapping.translate(SequenceNumber(number))?.rawValue == number &+ 1)
            if step > 1000 {
                #expect(mapping.translate(SequenceNumber(number &- 1000))?.rawValue == number &- 999)
                #expect(mapping.source(of: SequenceNumber(number &- 999))?.rawValue == number &- 1000)
            }
        }
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `the first number leaves room below and is in the lower half`(seed: UInt64) {
        var random = SeededRandomSource(seed: seed)
        for _ in 0..<1000 {
            let lastUsed = SequenceMapping(random: &random).highest.rawValue
            #expect(lastUsed >= 64 && lastUsed < 0x8000 + 64)
        }
    }
}
