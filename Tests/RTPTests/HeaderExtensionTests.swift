import Primitives
import RTP
import Testing

@Suite struct HeaderExtensionTests {
    private static func packet(profile: UInt16, _ elements: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.write([0x90, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3] as [UInt8])
        writer.write(profile)
        let words = (elements.count + 3) / 4
        writer.write(UInt16(words))
        writer.write(elements)
        writer.writeZeros(words * 4 - elements.count)
        // A payload that looks like an element must never be taken for one.
        writer.write([0x50, 0x77, 0x05, 0x01, 0x77] as [UInt8])
        return writer.bytes
    }

    @Test(arguments: [
        (0xBEDE, [0x50, 1], 5, [1]),
        (0xBEDE, [0x10, 9, 0x52, 1, 2, 3], 5, [1, 2, 3]),
        (0xBEDE, [0, 0, 0x50, 1], 5, [1]),
        (0xBEDE, [0x5F] + Array(1...16), 5, Array(1...16)),
        // Not there, or behind what ends the search (RFC 8285 §4.2).
        (0xBEDE, [0x10, 9], 5, nil),
        (0xBEDE, [0xF0, 9, 0x50, 1], 5, nil),
        (0xBEDE, [0x01, 9, 9, 0x50, 1], 5, nil),
        (0xBEDE, [0xF0, 9], 15, nil),
        (0xBEDE, [0x00, 0x50, 1], 0, nil),
        // An element past the end of the extension.
        (0xBEDE, [0x5F, 1, 2], 5, nil),
        (0xBEDE, [0x1F, 1, 2], 5, nil),
        // Two-byte headers (RFC 8285 §4.3): lengths from 0, ids up to 255, any application bits.
        (0x1000, [5, 1, 7], 5, [7]),
        (0x1000, [5, 0], 5, []),
        (0x100F, [0, 200, 2, 7, 8], 200, [7, 8]),
        (0x1000, [15, 1, 9, 5, 1, 7], 5, [7]),
        (0x1000, [5, 9, 1], 5, nil),
        (0x1000, [0, 0, 0, 5], 5, nil),
        // Other profiles have no elements.
        (0xBEDF, [0x50, 1], 5, nil),
        (0x1010, [5, 1, 7], 5, nil),
        (0, [0x50, 1], 5, nil),
    ] as [(UInt16, [UInt8], UInt8, [UInt8]?)])
    func `elements are found by id`(_ profile: UInt16, _ elements: [UInt8], _ id: UInt8, _ expected: [UInt8]?) throws {
        let packet = Self.packet(profile: profile, elements)
        let range = try RTPHeader(parsing: packet.span).extensionElement(id, in: packet.span)
        #expect(range.map { Array(packet[$0]) } == expected)
    }
}
