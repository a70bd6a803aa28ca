import FuzzTargets
import Primitives
import STUN
import TestSupport
import Testing

@Suite struct STUNPropertyTests {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `what is encoded parses into the same`(seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededRandomSource(seed: seed)
        for _ in 0..<500 {
            let message = randomMessage(&random)
            let plain = message.encoded(fingerprint: false)
            #expect(try STUNMessage(parsing: plain) == message)
            let sealed = message.encoded(password: "pass", authentication: TestAuthentication())
            let parsed = try STUNMessage(parsing: sealed)
            #expect(parsed.attributes == message.attributes)
            #expect(parsed.hasValidFingerprint(in: sealed))
            #expect(parsed.hasValidIntegrity(in: sealed, key: Array("pass".utf8)))
        }
    }

    @Test(arguments: [4, 5] as [UInt64])
    func `random and damaged bytes never trap`(seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededRandomSource(seed: seed)
        let corpus = try (Fixtures.files(in: "stun/rfc5769") + Fixtures.files(in: "stun/refused")).map {
            try Fixtures.bytes($0)
        }
        for _ in 0..<4000 {
            fuzzSTUN(random.nextBytes(Int.random(in: 0...80, using: &random)).span)
            var bytes = corpus.randomElement(using: &random)!
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            fuzzSTUN(bytes.span)
            fuzzSTUN(Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random))).span)
        }
    }

    private func randomMessage(_ random: inout SeededRandomSource) -> STUNMessage {
        let attributes = (0..<Int.random(in: 0...12, using: &random)).map { _ in randomAttribute(&random) }
        let messageClass = STUNClass.allCases.randomElement(using: &random)!
        return STUNMessage(
            messageClass, STUNMethod(UInt16.random(in: 0...0xFFF, using: &random)), TransactionID(using: &random),
            attributes)
    }

    private func randomAttribute(_ random: inout SeededRandomSource) -> STUNAttribute {
        let count = Int.random(in: 0...40, using: &random)
        switch Int.random(in: 0...9, using: &random) {
        case 0: return .username(random.nextToken(count, alphabet: .ice))
        case 1:
            return .errorCode(
                STUNErrorCode(
                    Int.random(in: 300...699, using: &random), reason: random.nextToken(count, alphabet: .url))!)
        case 2:
            return .unknownAttributes(
                (0..<count).map { _ in STUNAttributeType(UInt16.random(in: 0 ... .max, using: &random)) })
        case 3: return .xorMappedAddress(SocketAddress(IPAddress(v4: random.nextUInt32()), port: 9))
        case 4: return .xorMappedAddress(SocketAddress(IPAddress(v6: random.next(), random.next()), port: 65_535))
        case 5: return .priority(random.nextUInt32())
        case 6: return .useCandidate
        case 7:
            return Bool.random(using: &random)
                ? .iceControlled(tieBreaker: random.next()) : .iceControlling(tieBreaker: random.next())
        case 8: return .software("é" + random.nextToken(count, alphabet: .url))
        default:
            return .unknown(STUNAttributeType(Bool.random(using: &random) ? 0x4001 : 0xC001), random.nextBytes(count))
        }
    }
}
