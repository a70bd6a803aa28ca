import NIOWebSocket
import Primitives
import SignalingServer
import TestSupport
import Testing

@Suite struct `Client frames` {
    struct Step: Sendable {
        var opcode: WebSocketOpcode
        var fin = true
        var length = 1
        /// Instead of so many letters.
        var payload: [UInt8]?
        var masked = true
        var reserved = false
    }

    @Test(
        arguments: [
            ([Step(opcode: .text)], .alive),
            ([Step(opcode: .binary, length: 10)], .alive),
            ([Step(opcode: .text, length: 11)], .violation(.messageTooLarge)),
            ([Step(opcode: .ping)], .pong),
            ([Step(opcode: .pong)], .alive),
            ([Step(opcode: .connectionClose, length: 0)], .closed),
            ([Step(opcode: .text, masked: false)], .violation(.protocolError)),
            ([Step(opcode: .text, reserved: true)], .violation(.protocolError)),
            ([Step(opcode: .continuation)], .violation(.protocolError)),
            ([Step(opcode: .text, fin: false), Step(opcode: .continuation)], .alive),
            (
                [Step(opcode: .text, fin: false), Step(opcode: .continuation), Step(opcode: .continuation)],
                .violation(.protocolError)
            ),
            (
                [
                    Step(opcode: .text, fin: false), Step(opcode: .ping), Step(opcode: .continuation),
                    Step(opcode: .text),
                ], .alive
            ),
            ([Step(opcode: .text, fin: false), Step(opcode: .text)], .violation(.protocolError)),
            (
                [Step(opcode: .text, fin: false, length: 6), Step(opcode: .continuation, length: 5)],
                .violation(.messageTooLarge)
            ),
            ([Step(opcode: .text, fin: false, length: 6), Step(opcode: .continuation, length: 4)], .alive),
        ] as [([Step], ClientFrames.Verdict)])
    func `the last frame decides`(_ steps: [Step], _ verdict: ClientFrames.Verdict) {
        var frames = ClientFrames(sizeLimit: 10)
        let verdicts = steps.map {
            frames.receive(
                $0.opcode, fin: $0.fin, masked: $0.masked, reserved: $0.reserved,
                payload: $0.payload ?? [UInt8](repeating: 97, count: $0.length))
        }
        #expect(verdicts.last == verdict)
    }

    /// RFC 6455 §7.4.1; 5000 and above are nobody's.
    @Test(
        arguments: [
            (nil, .closed), (1000, .closed), (1001, .closed), (1002, .closed), (1003, .closed), (1007, .closed),
            (1008, .closed), (1009, .closed),
            (1010, .closed), (1011, .closed), (1012, .closed), (1013, .closed), (1014, .closed), (3000, .closed),
            (3999, .closed), (4000, .closed),
            (4999, .closed),
            (0, .violation(.protocolError)), (999, .violation(.protocolError)), (1004, .violation(.protocolError)),
            (1005, .violation(.protocolError)), (1006, .violation(.protocolError)), (1015, .violation(.protocolError)),
            (1016, .violation(.protocolError)), (1100, .violation(.protocolError)), (2000, .violation(.protocolError)),
            (2999, .violation(.protocolError)), (5000, .violation(.protocolError)),
            (65_535, .violation(.protocolError)),
        ] as [(Int?, ClientFrames.Verdict)])
    func `a close code means something, or breaks a rule`(_ code: Int?, _ verdict: ClientFrames.Verdict) {
        var frames = ClientFrames(sizeLimit: 10)
        let payload = code.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } ?? []
        #expect(frames.receive(.connectionClose, fin: true, masked: true, reserved: false, payload: payload) == verdict)
    }

    @Test(
        arguments: [
            ([0x03], .violation(.protocolError)),
            ([0x03, 0xE8] + Array("gone für heute".utf8), .closed),
            ([0x03, 0xE8, 0xC3], .violation(.dataInconsistentWithMessage)),
            ([0x03, 0xE8, 0xFF, 0x61], .violation(.dataInconsistentWithMessage)),
        ] as [([UInt8], ClientFrames.Verdict)])
    func `a close has a whole code and a reason in UTF-8`(_ payload: [UInt8], _ verdict: ClientFrames.Verdict) {
        var frames = ClientFrames(sizeLimit: 10)
        #expect(frames.receive(.connectionClose, fin: true, masked: true, reserved: false, payload: payload) == verdict)
    }

    /// Of each text all cuts into two fragments. The texts that are none are those of Unicode's table 3-7 and of
    /// https://www.cl.cam.ac.uk/~mgk25/ucs/examples/UTF-8-test.txt.
    @Test(
        arguments: [
            ("test", true), ("é ह € 𐍈 \u{D7FF}\u{E000}\u{10FFFF}", true),
        ] as [(String, Bool)])
    func `text in UTF-8 is taken, however it is cut`(_ text: String, _ isTaken: Bool) {
        expect(Array(text.utf8), isTaken)
    }

    @Test(
        arguments: [
            [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF], [0xE2, 0x82],
            [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
            [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x90, 0x8D], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE],
            [0xFF], [0xE2, 0x28, 0xA1],
        ] as [[UInt8]])
    func `text that is no UTF-8 breaks a rule, however it is cut`(_ bytes: [UInt8]) {
        expect(bytes, false)
        expect([0x61] + bytes + [0x61], false)
    }

    private func expect(_ bytes: [UInt8], _ isTaken: Bool) {
        for cut in 0...bytes.count {
            var frames = ClientFrames(sizeLimit: 100)
            let first = frames.receive(.text, fin: false, masked: true, reserved: false, payload: bytes[..<cut])
            guard first == .alive else {
                #expect(!isTaken && first == .violation(.dataInconsistentWithMessage))
                continue
            }
            let last = frames.receive(.continuation, fin: true, masked: true, reserved: false, payload: bytes[cut...])
            #expect(last == (isTaken ? .alive : .violation(.dataInconsistentWithMessage)), "cut at \(cut)")
        }
    }

    @Test func `messages that are read are handed out whole, however they are cut`() {
        var frames = ClientFrames(sizeLimit: 10, readsMessages: true)
        func receive(_ opcode: WebSocketOpcode, _ payload: String, fin: Bool = true) -> ClientFrames.Verdict {
            frames.receive(opcode, fin: fin, masked: true, reserved: false, payload: Array(payload.utf8))
        }
        #expect(receive(.text, "hello") == .message(Array("hello".utf8), isText: true))
        #expect(receive(.binary, "") == .message([], isText: false))
        #expect(receive(.binary, "ab", fin: false) == .alive)
        #expect(receive(.ping, "") == .pong)
        #expect(receive(.continuation, "cd", fin: false) == .alive)
        #expect(receive(.continuation, "ef") == .message(Array("abcdef".utf8), isText: false))
        #expect(receive(.continuation, "ef") == .violation(.protocolError))
        #expect(receive(.text, "123456", fin: false) == .alive)
        #expect(receive(.continuation, "78901") == .violation(.messageTooLarge))
        #expect(receive(.text, "12345678901") == .violation(.messageTooLarge))
        let broken = frames.receive(.text, fin: true, masked: true, reserved: false, payload: [0xC3])
        #expect(broken == .violation(.dataInconsistentWithMessage))
    }

    @Test(arguments: [(10, true), (11, false), (126, false), (70_000, false)])
    func `a frame that is longer than its kind of socket allows is refused at its head`(_ length: Int, _ fits: Bool) {
        var lengths = FrameLengths(limit: 10)
        let head: [UInt8] =
            switch length {
            case ..<126: [0x82, 0x80 | UInt8(length)]
            case ..<65_536: [0x82, 0xFE, UInt8(length >> 8), UInt8(length & 0xFF)]
            default: [0x82, 0xFF, 0, 0, 0, 0] + [24, 16, 8, 0].map { UInt8(length >> $0 & 0xFF) }
            }
        #expect(lengths.follow(head) == fits)
        #expect(lengths.isTooLong == !fits)
    }

    /// The judge of text is the standard library.
    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func `whatever frames a client sends, each has a verdict, and text is what the standard library says`(
        _ seed: UInt64
    ) {
        var random = SeededRandomSource(seed: seed)
        var frames = ClientFrames(sizeLimit: 64)
        var (text, isOpen): ([UInt8]?, Bool) = (nil, false)
        for _ in 0..<200 {
            let opcode = WebSocketOpcode(encodedWebSocketOpcode: UInt8(truncatingIfNeeded: random.next() % 16)) ?? .text
            let payload = Self.somePayload(&random)
            let (fin, masked, reserved) = (random.next() % 2 == 0, random.next() % 16 != 0, random.next() % 16 == 0)
            let verdict = frames.receive(opcode, fin: fin, masked: masked, reserved: reserved, payload: payload)
            if opcode == .text || opcode == .binary, verdict == .alive {
                (text, isOpen) = (opcode == .text ? [] : nil, true)
            }
            if isOpen, verdict == .alive, opcode == .text || opcode == .binary || opcode == .continuation {
                text? += payload
                if fin, let whole = text { #expect(String(validating: whole, as: UTF8.self) != nil) }
                if fin { isOpen = false }
            }
            // A channel is closed after the first violation; a new one begins.
            if case .violation = verdict { (frames, isOpen) = (ClientFrames(sizeLimit: 64), false) }
        }
        var lengths = FrameLengths()
        for _ in 0..<50 where lengths.follow(random.nextBytes(Int(random.next() % 40))) {}
    }

    private static func somePayload(_ random: inout SeededRandomSource) -> [UInt8] {
        let scalars: [UInt32] = [0x61, 0xE4, 0x20AC, 0x1_0348, 0xD7FF, 0xE000, 0x10_FFFF]
        var bytes: [UInt8] = []
        for _ in 0..<(random.next() % 8) {
            if let scalar = Unicode.Scalar(scalars[Int(random.next() % UInt64(scalars.count))]) {
                bytes += Array(String(scalar).utf8)
            }
        }
        // Cut or damaged now and then.
        if random.next() % 4 == 0, !bytes.isEmpty { bytes.removeLast(Int(random.next() % UInt64(bytes.count))) }
        if random.next() % 8 == 0, !bytes.isEmpty {
            bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
        }
        return bytes
    }

    /// RFC 6455 §5.2. The stream is followed byte by byte, and in one piece.
    @Test(
        arguments: [
            ([0x81, 0x80, 1, 2, 3, 4, 0x89, 0x00], true),
            ([0x81, 0xFD] + [UInt8](repeating: 0, count: 129), true),
            ([0x81, 0xFE, 0x00, 0x7E] + [UInt8](repeating: 0, count: 130) + [0x81, 0x00], true),
            ([0x81, 0xFE, 0x00, 0x7D], false),
            ([0x81, 0x7E, 0x00, 0x00], false),
            ([0x81, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0] + [UInt8](repeating: 0, count: 65_536) + [0x81, 0x00], true),
            ([0x81, 0x7F, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], false),
            ([0x81, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x81], true),
            ([0x81, 0x00, 0x81, 0x01, 0x61, 0x81, 0x7E, 0x00, 0x01], false),
        ] as [([UInt8], Bool)])
    func `a length is written as short as it can be`(_ stream: [UInt8], _ isTaken: Bool) {
        var whole = FrameLengths()
        #expect(whole.follow(stream) == isTaken)
        var pieces = FrameLengths()
        #expect(stream.allSatisfy { pieces.follow(CollectionOfOne($0)) } == isTaken)
    }
}
