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

    /// 1 becomes 9, 2 becomes 1, 3 becomes 200; nothing else is known.
    private static let numbering = ExtensionNumbering([
        (from: 1, to: 9), (from: 2, to: 1), (from: 3, to: 200), (from: 200, to: 3),
    ])

    @Test(
        arguments: [
            (0xBEDE, [0x10, 7, 0x21, 8, 9], [0x90, 7, 0x11, 8, 9]),
            (0xBEDE, [0, 0x10, 7, 0, 0x21, 8, 9, 0], [0, 0x90, 7, 0, 0x11, 8, 9, 0]),
            // Not known to the receiver, and known under an id that one byte has no room for.
            (0xBEDE, [0x42, 7, 7, 7, 0x10, 5, 0], [0, 0, 0, 0, 0x90, 5, 0]),
            (0xBEDE, [0x30, 7, 0x20, 5], [0, 0, 0x10, 5]),
            // What no receiver would read any further becomes padding: id 15, id 0 with a length, an element past the
            // end.
            (0xBEDE, [0x10, 7, 0xF0, 1, 0x20, 5], [0x90, 7, 0, 0, 0, 0]),
            (0xBEDE, [0x01, 7, 0x20, 5], [0, 0, 0, 0]),
            (0xBEDE, [0x10, 7, 0x2F, 5], [0x90, 7, 0, 0]),
            // Two-byte headers: empty elements, ids above 14, a length that is missing or too large.
            (0x1000, [1, 1, 7, 2, 0, 3, 2, 8, 9], [9, 1, 7, 1, 0, 200, 2, 8, 9]),
            (0x100F, [200, 1, 7, 0, 4, 1, 7], [3, 1, 7, 0, 0, 0, 0]),
            (0x1000, [1, 1, 7, 2, 9, 1, 1, 1], [9, 1, 7, 0, 0, 0, 0, 0]),
            (0x1000, [1, 1, 7, 2], [9, 1, 7, 0]),
            // Other profiles have no elements.
            (0xABAC, [0x10, 7, 0x21, 8], [0x10, 7, 0x21, 8]),
        ] as [(UInt16, [UInt8], [UInt8])])
    func `elements get their receiver's ids or become padding, and nothing else of the packet changes`(
        _ profile: UInt16, _ elements: [UInt8], _ expected: [UInt8]
    ) throws {
        var packet = Self.packet(profile: profile, elements)
        let header = try RTPHeader(parsing: packet.span)
        var span = packet.mutableSpan
        header.renumberElements(by: Self.numbering, in: &span)
        #expect(packet == Self.packet(profile: profile, expected))
    }

    @Test func `ids that agree leave every byte as it is, even what cannot be read`() throws {
        var packet = Self.packet(profile: 0xBEDE, [0x10, 7, 0xF0, 1, 0x2F, 5])
        let before = packet
        let header = try RTPHeader(parsing: packet.span)
        var span = packet.mutableSpan
        header.renumberElements(by: .identity, in: &span)
        #expect(packet == before)
    }

    @Test(
        arguments: [
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

    @Test(
        arguments: [
            (0xBEDE, [0x10, 7, 0x21, 8, 9], 5, [1], [0x50, 1, 0, 0, 0x10, 7, 0x21, 8, 9]),
            (0xBEDE, [], 5, [1, 2, 3], [0x52, 1, 2, 3]),
            (0xBEDE, [], 5, Array(1...16), [0x5F] + Array(1...16)),
            // Behind what ends a search nothing would be found.
            (0xBEDE, [0xF0, 9], 5, [1], [0x50, 1, 0, 0, 0xF0, 9]),
            (0x1005, [1, 1, 7], 200, [1], [200, 1, 1, 0, 1, 1, 7]),
            // It is there, or there is no room for it.
            (0xBEDE, [0x50, 9], 5, [1], [0x50, 9]),
            (0xBEDE, [0x10, 9], 15, [1], [0x10, 9]),
            (0xBEDE, [0x10, 9], 5, [], [0x10, 9]),
            (0xBEDE, [0x10, 9], 5, Array(1...17), [0x10, 9]),
            (0x1000, [1, 1, 7], 0, [1], [1, 1, 7]),
            (0xABAC, [0x10, 9], 5, [1], [0x10, 9]),
        ] as [(UInt16, [UInt8], UInt8, [UInt8], [UInt8])])
    func `an element is inserted before the others, where it can be`(
        _ profile: UInt16, _ elements: [UInt8], _ id: UInt8, _ data: [UInt8], _ expected: [UInt8]
    ) throws {
        var packet = Self.packet(profile: profile, elements)
        try RTPHeader(parsing: packet.span).insertElement(id, data, into: &packet)
        #expect(packet == Self.packet(profile: profile, expected))
    }

    @Test func `a packet without an extension gets one, and keeps its sources, its payload and its padding`() throws {
        let head: [UInt8] = [0xA1, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4]
        let rest: [UInt8] = [0x77, 0x78, 0, 0, 3]
        var packet = head + rest
        try RTPHeader(parsing: packet.span).insertElement(5, [1], into: &packet)
        #expect(packet == [0xB1] + head.dropFirst() + [0xBE, 0xDE, 0, 1, 0x50, 1, 0, 0] + rest)
    }
}
