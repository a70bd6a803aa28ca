import Testing

import Zlib

@Suite struct `permessage-deflate` {
    private let hello = Array("Hello".utf8)

    private func inflated(_ payload: [UInt8], limit: Int = 1_000) throws -> [UInt8] {
        var inflater = Inflater()
        return try inflater.decompress(payload.span, limit: limit)
    }

    /// The examples of RFC 7692 §7.2.3.
    @Test(arguments: [
        [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00],
        [0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00],
        [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00],
        [0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00],
    ])
    func `the examples of the RFC say Hello`(_ payload: [UInt8]) throws {
        #expect(try inflated(payload) == hello)
    }

    @Test func `a message that refers to the one before is malformed where nothing is kept`() throws {
        #expect(throws: Inflater.Fault.malformed) { try inflated([0xF2, 0x00, 0x11, 0x00, 0x00]) }
        var inflater = Inflater()
        #expect(try inflater.decompress([0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00].span, limit: 9) == hello)
        #expect(throws: Inflater.Fault.malformed) {
            try inflater.decompress([0xF2, 0x00, 0x11, 0x00, 0x00].span, limit: 9)
        }
    }

    @Test(arguments: 9...15)
    func `what is compressed is decompressed, whatever the window`(_ windowBits: Int) throws {
        var deflater = Deflater(windowBits: windowBits)
        for length in [1, 5, 300, 5_000, 100_000] {
            let message = (0..<length).map { UInt8(truncatingIfNeeded: $0 * $0 / 7) }
            deflater.reset()
            let payload = deflater.compress(message.span)
            #expect(try inflated(payload, limit: length) == message)
        }
        let text = Array(
            String(repeating: "a=candidate:1 1 udp 2130706431 192.0.2.1 7000 typ host\r\n", count: 50).utf8)
        #expect(deflater.compress(text.span).count < text.count / 10)
    }

    @Test func `with a kept window the second message refers to the first`() {
        var deflater = Deflater(windowBits: 13, memoryLevel: 6)
        let message = (0..<2_000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 7) }
        let first = deflater.compress(message.span).count
        #expect(deflater.compress(message.span).count < first / 10)
        deflater.reset()
        #expect(deflater.compress(message.span).count == first)
    }

    @Test func `a message of exactly the limit is whole, one byte more is too large`() throws {
        var deflater = Deflater(windowBits: 15)
        for length in [1, 4_095, 4_096, 4_097, 16_384] {
            let message = [UInt8](repeating: 42, count: length)
            deflater.reset()
            let payload = deflater.compress(message.span)
            #expect(try inflated(payload, limit: length) == message)
            guard length > 1 else { continue }
            #expect(throws: Inflater.Fault.tooLarge) { try inflated(payload, limit: length - 1) }
        }
    }

    /// 16 KB that would be 16 MB.
    @Test func `a bomb is not decompressed beyond the limit`() {
        var deflater = Deflater(windowBits: 15)
        let bomb = deflater.compress([UInt8](repeating: 0, count: 16_000_000).span)
        #expect(bomb.count < 17_000)
        #expect(throws: Inflater.Fault.tooLarge) { try inflated(bomb, limit: 16_384) }
    }

    @Test func `what is cut off is malformed`() {
        var deflater = Deflater(windowBits: 15)
        let message = (0..<500).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 7) }
        let payload = deflater.compress(message.span)
        for length in 1..<payload.count {
            // By chance the bytes may end with a block; then they are a shorter message, but never the whole one.
            let part = try? inflated(Array(payload.prefix(length)))
            #expect(part != message || length == payload.count - 1)
        }
        #expect(throws: Inflater.Fault.malformed) { try inflated([0xFF, 0xFF, 0xFF]) }
    }

    @Test func `an empty payload is an empty message`() throws {
        #expect(try inflated([]) == [])
        #expect(try inflated([0x00]) == [])
    }
}
