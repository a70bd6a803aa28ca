import MediaPlane
import Primitives
import TestSupport
import Testing

/// RFC 6347 §4.1, §4.2.2.
@Suite struct HandshakeRecordTests {
    private static func record(
        type: UInt8 = 22, epoch: UInt16 = 0, version: UInt16 = 0xFEFD, claiming length: Int? = nil, _ fragment: [UInt8]
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(type)
        writer.write(version)
        writer.write(epoch)
        writer.write([UInt8](repeating: 0, count: 6))
        writer.write(UInt16(length ?? fragment.count))
        writer.write(fragment)
        return writer.bytes
    }

    /// A fragment of a client's message; its type follows from its number unless given.
    private static func message(
        _ length: Int, type: UInt8? = nil, sequence: UInt16 = 1, from offset: Int = 0, _ count: Int,
        claiming claimed: Int? = nil
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(type ?? ([1, 11, 16, 15] as [UInt8]).dropFirst(Int(sequence)).first ?? 20)
        writer.writeUInt24(UInt32(length))
        writer.write(sequence)
        writer.writeUInt24(UInt32(offset))
        writer.writeUInt24(UInt32(claimed ?? count))
        writer.write([UInt8](repeating: 0xCC, count: count))
        return writer.bytes
    }

    private static func refusal(
        of datagram: [UInt8], expecting expectation: HandshakeRecord.Expectation = .clientFlight
    ) -> HandshakeRecord.Refusal? {
        do {
            try HandshakeRecord.examine(datagram.span, expecting: expectation)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: [
            record(message(100, 100)), record(version: 0xFEFF, message(100, 100)),
            record(message(2_000, 1_000)), record(message(2_000, from: 1_000, 1_000)),
            record(message(16_384, from: 16_000, 384)),
            // Several messages in a record, several records in a datagram.
            record(message(10, 10) + message(0, sequence: 2, 0)),
            record(message(10, 10)) + record(type: 20, [1]) + record(epoch: 1, [9, 9, 9]),
            // Encrypted ones may be anything.
            record(type: 23, epoch: 1, [1, 2, 3]), record(epoch: 2, [7]) + record(epoch: 1, [0]),
            record(type: 21, [2, 40]),
        ] as [[UInt8]])
    func `what a handshake consists of passes`(_ datagram: [UInt8]) {
        #expect(Self.refusal(of: datagram) == nil)
    }

    @Test(
        arguments: [
            ([], .malformed), ([22], .malformed), (Array(record([1]).prefix(13)), .malformed),
            (record(claiming: 200, message(100, 100)), .malformed),
            (record(version: 0x0303, message(100, 100)), .malformed),
            (record(message(10, 10)) + [0], .malformed), (record(Array(message(100, 100).prefix(11))), .malformed),
            (record(message(100, 10, claiming: 100)), .malformed), (record(type: 24, [1, 0, 1, 0]), .malformed),
            (record(message(16_385, 100)), .impossibleFragment), (record(message(0xFF_FFFF, 100)), .impossibleFragment),
            (record(message(2_000, from: 1_500, 501)), .impossibleFragment),
            (record(message(2_000, sequence: 16, 100)), .unexpectedMessage),
            (record(message(2_000, 0)), .impossibleFragment), (record(message(0, from: 1, 0)), .impossibleFragment),
            (record(type: 23, [1, 2, 3]), .unprotectedData),
            // A good-bye and a warning; alerts and changes of cipher that are none.
            (record(type: 21, [1, 0]), .unprotectedWarning), (record(type: 21, [1, 90]), .unprotectedWarning),
            (record(type: 21, [0, 0]), .unprotectedWarning),
            (record(type: 21, [2]), .malformed), (record(type: 21, [2, 40, 2]), .malformed),
            (record(type: 20, [2]), .malformed), (record(type: 20, [1, 1]), .malformed),
            // The second record or message counts as much as the first.
            (record(message(10, 10)) + record(message(0xFF_FFFF, 10)), .impossibleFragment),
            (record(message(10, 10) + message(20, from: 15, 10)), .impossibleFragment),
        ] as [([UInt8], HandshakeRecord.Refusal)])
    func `what cannot be part of one is refused`(_ datagram: [UInt8], _ refusal: HandshakeRecord.Refusal) {
        #expect(Self.refusal(of: datagram) == refusal)
    }

    /// Types by number: what a client and what a server says in the clear (RFC 5246 §7.3, RFC 6347 §4.2.4).
    @Test(
        arguments: [
            (.clientHello, [[1]]), (.clientFlight, [[1], [11], [16], [15]]),
            (.serverFlight, [[2, 3], [2, 11], [11, 12], [12, 13], [13, 14], [14]]),
        ] as [(HandshakeRecord.Expectation, [[UInt8]])])
    func `only messages of a full handshake pass, each in its place`(
        _ expectation: HandshakeRecord.Expectation, _ places: [[UInt8]]
    ) {
        for sequence in 0..<40 as Range<UInt16> {
            for type in 0...255 as ClosedRange<UInt8> {
                let datagram = Self.record(Self.message(20, type: type, sequence: sequence, 20))
                let isExpected = places.dropFirst(Int(sequence)).first?.contains(type) == true
                #expect(
                    Self.refusal(of: datagram, expecting: expectation) == (isExpected ? nil : .unexpectedMessage),
                    "\(type) as number \(sequence)")
            }
        }
    }

    @Test(arguments: [31, 32] as [UInt64])
    func `damaged records never trap`(seed: UInt64) {
        print("seed \(seed)")
        var random = SeededRandomSource(seed: seed)
        for _ in 0..<5_000 {
            var bytes = Self.record(Self.message(200, 100)) + Self.record(Self.message(30, 30))
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            _ = Self.refusal(of: Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random))))
        }
    }
}
