import FuzzTargets
import Primitives
import SDP
import TestSupport
import Testing

struct SDPPropertyTests {
    static let seeds = (0..<8).map { _ in UInt64.random(in: .min ... .max) }

    @Test(arguments: seeds)
    func `any description survives a round trip`(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededRandomSource(seed: seed)
        for _ in 0..<50 {
            let session = SessionDescription(random: &random)
            #expect(try SessionDescription(parsing: session.serialized) == session, "seed \(seed)")
        }
    }

    @Test(arguments: seeds)
    func `no text traps, and what is accepted can be negotiated`(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededRandomSource(seed: seed)
        let fixtures = try GrammarTests.fixtures.map { try Fixtures.bytes($0) }
        for _ in 0..<40 {
            fuzzSDP(random.nextBytes(Int.random(in: 0...200, using: &random)).span)
            let bytes = fixtures[Int.random(in: 0..<fixtures.count, using: &random)]
            fuzzSDP(mutated(bytes, &random).span)
            fuzzSDP(shuffledLines(bytes, &random).span)
        }
    }

    /// Offers and answers of random directions, codecs and rejections: the legs agree whenever the answer fits.
    @Test(arguments: seeds)
    func `the agreement of both legs fits`(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededRandomSource(seed: seed)
        for _ in 0..<50 {
            var call = TestCall()
            let offer = PeerText(random: &random)
            let version = try call.offer(offer.text).origin.version
            var answer = offer.answering
            for index in answer.lines.indices {
                let offered = MediaDirection(rawValue: offer.lines[index].direction ?? "") ?? .sendReceive
                answer.lines[index].direction =
                    MediaDirection.allCases.filter { $0.mayAnswer(offered) }.randomElement(using: &random)?.rawValue
                if index > 0, Bool.random(using: &random) { answer.lines[index].port = 0 }
            }
            answer.bundle = answer.lines.filter { $0.port != 0 }.compactMap(\.mid).joined(separator: " ")
            let answered = try call.answer(answer.text)
            let (caller, callee) = (try #require(call.caller.negotiated), try #require(call.callee.negotiated))
            #expect(version == 1 && answered.origin.version == 1)
            #expect(answered.media.count == offer.lines.count)
            #expect(caller.media.map(\.direction) == callee.media.map(\.direction.reversed), "seed \(seed)")
            #expect(caller.media.map(\.codecs) == callee.media.map(\.codecs), "seed \(seed)")
            #expect(caller.media.map(\.isRejected) == answer.lines.map { $0.port == 0 }, "seed \(seed)")
        }
    }

    private func mutated(_ bytes: [UInt8], _ random: inout SeededRandomSource) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &random)
            case 1: bytes.remove(at: index)
            case 2: bytes.insert("0123456789 :/=;\r\n".utf8.randomElement(using: &random) ?? 0, at: index)
            default: bytes.removeSubrange(index..<min(bytes.count - 1, index + 40))
            }
        }
        return bytes
    }

    /// Whole attribute lines removed, repeated and moved: text that mostly still parses.
    private func shuffledLines(_ bytes: [UInt8], _ random: inout SeededRandomSource) -> [UInt8] {
        var lines = bytes.split(separator: UInt8(ascii: "\n"))
        for _ in 0..<Int.random(in: 1...12, using: &random) {
            let attributes = lines.indices.filter { lines[$0].first == UInt8(ascii: "a") }
            guard let from = attributes.randomElement(using: &random), let to = attributes.randomElement(using: &random)
            else { break }
            switch Int.random(in: 0..<3, using: &random) {
            case 0: lines.remove(at: from)
            case 1: lines.insert(lines[from], at: to)
            default: lines.swapAt(from, to)
            }
        }
        return Array(lines.joined(separator: [UInt8(ascii: "\n")]))
    }
}

extension PeerText {
    init(random: inout SeededRandomSource) {
        self.init()
        lines = (0..<Int.random(in: 1...5, using: &random)).map { index in
            var line = Bool.random(using: &random) ? Line.audio : Line.video
            line.mid = "m\(index)"
            line.direction = MediaDirection.allCases.randomElement(using: &random)?.rawValue
            return line
        }
        bundle = lines.compactMap(\.mid).joined(separator: " ")
    }
}

extension SessionDescription {
    init(random: inout SeededRandomSource) {
        self.init(
            origin: Origin(
                username: .token(&random), sessionID: random.next() >> 1, version: random.next() >> 1,
                address: Connection(random: &random)),
            name: .line(&random), attributes: [Attribute](random: &random))
        if Bool.random(using: &random) { information = .line(&random) }
        if Bool.random(using: &random) { uri = .line(&random) }
        emailAddresses = (0..<Int.random(in: 0...2, using: &random)).map { _ in .line(&random) }
        phoneNumbers = (0..<Int.random(in: 0...2, using: &random)).map { _ in .line(&random) }
        if Bool.random(using: &random) { connection = Connection(random: &random) }
        bandwidths = [Bandwidth](random: &random)
        times = (0...Int.random(in: 0...2, using: &random)).map { _ in
            ActiveTime(
                start: random.next(), stop: random.next(),
                repeats: (0..<Int.random(in: 0...2, using: &random)).map { _ in .line(&random) },
                zones: Bool.random(using: &random) ? .line(&random) : nil)
        }
        if Bool.random(using: &random) { key = .line(&random) }
        media = (0..<Int.random(in: 0...4, using: &random)).map { _ in MediaDescription(random: &random) }
    }
}

extension MediaDescription {
    init(random: inout SeededRandomSource) {
        self.init(
            type: .token(&random), port: .random(in: .min ... .max, using: &random), transportProtocol: .token(&random),
            formats: (0...Int.random(in: 0...5, using: &random)).map { _ in .token(&random) },
            connections: (0..<Int.random(in: 0...2, using: &random)).map { _ in Connection(random: &random) },
            bandwidths: [Bandwidth](random: &random), attributes: [Attribute](random: &random))
        if Bool.random(using: &random) { portCount = .random(in: 1 ... .max, using: &random) }
        if Bool.random(using: &random) { information = .line(&random) }
        if Bool.random(using: &random) { key = .line(&random) }
    }
}

extension Connection {
    init(random: inout SeededRandomSource) {
        self.init(networkType: .token(&random), addressType: .token(&random), address: .token(&random))
    }
}

extension [Bandwidth] {
    init(random: inout SeededRandomSource) {
        self = (0..<Int.random(in: 0...2, using: &random)).map { _ in
            Bandwidth(type: .token(&random), value: random.next())
        }
    }
}

extension [Attribute] {
    init(random: inout SeededRandomSource) {
        self = (0..<Int.random(in: 0...8, using: &random)).map { _ in
            Attribute(.token(&random), Bool.random(using: &random) ? .line(&random) : nil)
        }
    }
}

extension String {
    /// What a field may hold: no space, no colon (names of attributes end there), nothing that ends a line.
    static func token(_ random: inout SeededRandomSource) -> String {
        let characters = Array("abcXYZ019-_.+*äß‹😀")
        return String(
            (0...Int.random(in: 0...12, using: &random)).map { _ in
                characters[Int.random(in: 0..<characters.count, using: &random)]
            })
    }

    /// What a line may hold.
    static func line(_ random: inout SeededRandomSource) -> String {
        (0..<Int.random(in: 0...4, using: &random)).map { _ in token(&random) }.joined(
            separator: Bool.random(using: &random) ? " " : ":= ")
    }
}
