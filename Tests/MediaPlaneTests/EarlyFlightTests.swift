import MediaPlane
import Primitives
import TestSupport
import Testing

/// What is kept of a peer that says ClientHello before its description is known.
@Suite struct EarlyFlightTests {
    /// A datagram with one piece of a ClientHello of `length` bytes.
    private static func hello(
        _ range: Range<Int>, of length: Int = 1_500, random: UInt8 = 1, type: UInt8 = 1, sequence: UInt16 = 0,
        epoch: UInt16 = 0, mark: UInt8 = 0
    ) -> [UInt8] {
        var body = ByteWriter()
        body.write(type)
        body.writeUInt24(UInt32(length))
        body.write(sequence)
        body.writeUInt24(UInt32(range.lowerBound))
        body.writeUInt24(UInt32(range.count))
        body.write(range.map { $0 < 2 ? 0xFE : $0 < 34 ? random : 0xCC })
        var writer = ByteWriter()
        writer.write(UInt8(22))
        writer.write(UInt16(0xFEFD))
        writer.write(epoch)
        // The number of the record tells one repetition from another.
        writer.write([0, 0, 0, 0, 0, mark])
        writer.write(UInt16(body.bytes.count))
        writer.write(body.bytes)
        return writer.bytes
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var heard: [[UInt8]]
        var kept: [[UInt8]]

        init(_ description: String, _ heard: [[UInt8]], _ kept: [[UInt8]]) {
            (testDescription, self.heard, self.kept) = (description, heard, kept)
        }
    }

    private static let (front, back) = (0..<1_000, 1_000..<1_500)

    @Test(arguments: [
        Row("one datagram", [hello(0..<200, of: 200)], [hello(0..<200, of: 200)]),
        Row("two", [hello(front), hello(back)], [hello(front), hello(back)]),
        Row("two in the other order", [hello(back), hello(front)], [hello(front), hello(back)]),
        Row(
            "several pieces in one datagram", [hello(0..<400) + hello(400..<1_500)],
            [hello(0..<400) + hello(400..<1_500)]),
        Row(
            "what is repeated takes its own place",
            [hello(front), hello(back), hello(front, mark: 1), hello(back, mark: 1), hello(front, mark: 2)],
            [hello(front, mark: 2), hello(back, mark: 1)]
        ),
        Row(
            "a whole one, repeated in smaller pieces, stays as it is",
            [hello(front), hello(back)] + [hello(0..<500, mark: 1), hello(500..<1_500, mark: 1)],
            [hello(front), hello(back)]
        ),
        Row(
            "another random is another ClientHello", [hello(front), hello(back), hello(front, random: 2)],
            [hello(front, random: 2)]),
        Row(
            "and so is another length",
            [hello(front), hello(back), hello(0..<1_000, of: 1_400), hello(1_000..<1_400, of: 1_400)],
            [hello(0..<1_000, of: 1_400), hello(1_000..<1_400, of: 1_400)]
        ),
        Row(
            "beyond four datagrams the newest counts",
            (0..<5).map { hello(($0 * 900)..<($0 * 900 + 900), of: 5_000) }, [hello(3_600..<4_500, of: 5_000)]
        ),
        Row(
            "beyond 8 KiB as well", (0..<3).map { hello(($0 * 3_000)..<($0 * 3_000 + 3_000), of: 9_000) },
            [hello(6_000..<9_000, of: 9_000)]),
        Row("a datagram beyond that is not kept", [hello(0..<8_300, of: 9_000)], []),
    ])
    func `a flight is kept in its newest repetition, within its bounds`(_ row: Row) throws {
        var flight = ClientFlight()
        for datagram in row.heard { try flight.add(datagram.span) }
        #expect(flight.datagrams == row.kept)
        #expect(flight.datagrams.count <= ClientFlight.maximumDatagrams)
        #expect(flight.datagrams.map(\.count).reduce(0, +) <= ClientFlight.maximumBytes)
    }

    @Test(
        arguments: [
            ([], .malformed), ([22, 0xFE], .malformed), (hello(front, type: 11, sequence: 1), .unexpectedMessage),
            (hello(front, sequence: 1), .unexpectedMessage), (hello(front, of: 17_000), .impossibleFragment),
            (hello(front, epoch: 1), .unexpectedMessage),
            (hello(0..<500) + hello(700..<1_500), .impossibleFragment),
            (hello(0..<500) + hello(500..<1_400, of: 1_400), .impossibleFragment),
            ([20, 0xFE, 0xFD] + [UInt8](repeating: 0, count: 9) + [1, 1], .unexpectedMessage),
        ] as [([UInt8], HandshakeRecord.Refusal)])
    func `what is none of a ClientHello is not kept, and takes nothing from what is`(
        _ datagram: [UInt8], _ refusal: HandshakeRecord.Refusal
    ) throws {
        var flight = ClientFlight()
        try flight.add(Self.hello(Self.front).span)
        #expect(throws: refusal) { try flight.add(datagram.span) }
        #expect(flight.datagrams == [Self.hello(Self.front)])
    }

    private static func path(_ port: UInt16) -> Path {
        Path(local: SocketIndex(0), remote: SocketAddress(IPAddress(v4: 0xC000_0201), port: port))
    }

    @Test func `each path has its flight, four at a time, and the one heard last is taken`() throws {
        var flights = EarlyFlights()
        for port in [1, 2, 3, 1, 4, 5] as [UInt16] {
            try flights.add(Self.hello(0..<200, of: 200, random: UInt8(port)).span, over: Self.path(port))
        }
        #expect(flights.count == EarlyFlights.maximumCount)
        flights.forget(Self.path(5))
        let last = flights.take()
        let taken = try #require(last)
        #expect(taken.path == Self.path(4) && taken.datagrams == [Self.hello(0..<200, of: 200, random: 4)])
        #expect(flights.count == 0)
    }

    @Test func `a refused record keeps no place`() {
        var flights = EarlyFlights()
        #expect(throws: HandshakeRecord.Refusal.malformed) { try flights.add([22, 1, 2].span, over: Self.path(1)) }
        #expect(flights.count == 0)
    }
}
