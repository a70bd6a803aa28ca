import FuzzTargets
import Primitives
import RTP
import TestSupport
import Testing

@Suite struct RTPPropertyTests {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `random bytes never trap`(seed: UInt64) {
        print("seed \(seed)")
        var random = SeededRandomSource(seed: seed)
        for _ in 0..<3000 {
            var bytes = random.nextBytes(Int.random(in: 0...120, using: &random))
            // Most random bytes fail at the version: help them past it.
            if !bytes.isEmpty { bytes[0] = bytes[0] & 0x3F | 0x80 }
            fuzzRTP(bytes.span)
            if bytes.count >= 4 {
                bytes[1] = 200 + bytes[1] % 8
                bytes[2] = 0
                bytes[3] = UInt8(bytes.count / 4 - 1)
            }
            fuzzRTCP(bytes.span)
            fuzzRTCP(Array(bytes.prefix(bytes.count / 4 * 4)).span)
        }
    }

    @Test(arguments: [4, 5] as [UInt64])
    func `damaged packets of other stacks never trap`(seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededRandomSource(seed: seed)
        for file in Fixtures.files(in: "rtp/aiortc") + Fixtures.files(in: "rtp/ffmpeg") where file.hasSuffix(".bin") {
            let original = try Fixtures.bytes(file)
            fuzzRTP(original.span)
            fuzzRTCP(original.span)
            for _ in 0..<300 {
                var bytes = original
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                fuzzRTP(bytes.span)
                fuzzRTCP(bytes.span)
                fuzzRTP(Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random))).span)
            }
        }
    }
}
