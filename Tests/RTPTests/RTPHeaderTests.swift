import Primitives
import RTP
import Testing

@Suite struct RTPHeaderTests {
    /// Version 2, payload type 111, sequence number 1, timestamp 2, SSRC 3.
    private static let fixed: [UInt8] = [0x80, 111, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3]

    private static func packet(flags: UInt8, _ rest: [UInt8]) -> [UInt8] {
        [flags] + fixed.dropFirst() + rest
    }

    @Test(arguments: [
        (fixed, 12..<12),
        (fixed + [9, 9, 9], 12..<15),
        (packet(flags: 0x81, [0, 0, 0, 7, 9]), 16..<17),
        (packet(flags: 0x90, [0xBE, 0xDE, 0, 0, 9]), 16..<17),
        (packet(flags: 0x90, [0xBE, 0xDE, 0, 1, 0x10, 9, 0, 0, 9, 9]), 20..<22),
        (packet(flags: 0xA0, [9, 9, 0, 2]), 12..<14),
        (packet(flags: 0xA0, [1]), 12..<12),
        (packet(flags: 0xB1, [0, 0, 0, 7, 0xBE, 0xDE, 0, 1, 0x10, 9, 0, 0, 9, 9, 0, 0, 3]), 24..<26),
    ])
    func `the payload lies between header and padding`(_ bytes: [UInt8], _ payload: Range<Int>) throws {
        let header = try RTPHeader(parsing: bytes.span)
        #expect(header.payloadRange == payload)
        #expect(header.payloadType == PayloadType(111))
        #expect(header.sequenceNumber == SequenceNumber(1))
        #expect(header.timestamp == RTPTimestamp(2))
        #expect(header.ssrc == SSRC(3))
        #expect(!header.marker)
    }

    @Test(
        arguments: [
            ([], .malformedLength),
            (Array(fixed.dropLast()), .malformedLength),
            (packet(flags: 0x40, []), .malformedVersion),
            (packet(flags: 0xC0, []), .malformedVersion),
            (packet(flags: 0x81, [0, 0, 0]), .malformedLength),
            (packet(flags: 0x8F, []), .malformedLength),
            (packet(flags: 0x90, [0xBE, 0xDE, 0]), .malformedLength),
            (packet(flags: 0x90, [0xBE, 0xDE, 0, 1, 0, 0, 0]), .malformedLength),
            (packet(flags: 0x90, [0xBE, 0xDE, 0xFF, 0xFF]), .malformedLength),
            (packet(flags: 0xA0, []), .malformedPadding),
            (packet(flags: 0xA0, [9, 0]), .malformedPadding),
            (packet(flags: 0xA0, [9, 3]), .malformedPadding),
        ] as [([UInt8], RTPError)])
    func `malformed packets are refused`(_ bytes: [UInt8], _ error: RTPError) {
        #expect(throws: error) { try RTPHeader(parsing: bytes.span) }
    }

    @Test func `a header goes back in place and touches nothing else`() throws {
        var packet = Self.packet(flags: 0xB1, [0, 0, 0, 7, 0xBE, 0xDE, 0, 1, 0x10, 9, 0, 0, 9, 9, 0, 0, 3])
        var header = try RTPHeader(parsing: packet.span)
        header.marker = true
        header.payloadType = try #require(PayloadType(96))
        header.sequenceNumber = SequenceNumber(0xABCD)
        header.timestamp = RTPTimestamp(0x0102_0304)
        header.ssrc = SSRC(0xDEAD_BEEF)
        let rest = Array(packet.dropFirst(12))
        var span = packet.mutableSpan
        header.write(to: &span)
        #expect(Array(packet.prefix(12)) == [0xB1, 0xE0, 0xAB, 0xCD, 1, 2, 3, 4, 0xDE, 0xAD, 0xBE, 0xEF])
        #expect(Array(packet.dropFirst(12)) == rest)
    }

    @Test func `a retransmission carries the original number in front`() throws {
        var packet = Self.fixed + [0xFF, 0xFE, 9]
        let header = try RTPHeader(parsing: packet.span)
        #expect(header.originalSequenceNumber(in: packet.span) == SequenceNumber(0xFFFE))
        var span = packet.mutableSpan
        header.write(originalSequenceNumber: SequenceNumber(0x0102), to: &span)
        #expect(packet == Self.fixed + [1, 2, 9])
    }

    @Test func `a retransmission of padding only carries none`() throws {
        let packet = Self.packet(flags: 0xA0, [0, 0, 0, 4])
        #expect(try RTPHeader(parsing: packet.span).originalSequenceNumber(in: packet.span) == nil)
    }
}
