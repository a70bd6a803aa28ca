import FuzzTargets
import ICE
import Primitives
import TestSupport
import Testing

@Suite struct ICEPropertyTests {
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `whatever happens, the agent keeps its promises`(seed: UInt64) {
        print("seed \(seed)")
        var random = SeededRandomSource(seed: seed)
        for _ in 0..<150 { fuzzICELiteAgent(random.nextBytes(80).span) }
    }

    @Test(arguments: [5, 6] as [UInt64])
    func `damaged candidates never trap`(seed: UInt64) {
        print("seed \(seed)")
        var random = SeededRandomSource(seed: seed)
        let texts = CandidateTests.valid.map { Array($0.0.utf8) }
        for _ in 0..<3000 {
            var bytes = texts.randomElement(using: &random)!
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            fuzzCandidate(bytes.span)
            fuzzCandidate(Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random))).span)
        }
    }

    @Test func `made parameters have the length and characters that are asked for`() {
        var random = SeededRandomSource(seed: 7)
        let (one, other) = (ICEParameters(using: &random), ICEParameters(using: &random))
        #expect(one != other)
        #expect(one.ufrag.count == 8 && one.password.value.count == 24)
        #expect(!"\(one)".contains(one.password.value))
    }
}
