import Primitives
import RTP
import TestSupport
import Testing

@Suite struct TransportFeedbackTests {
    static func feedback(_ deltas: [Int16?], base: UInt16 = 1, reference: Int32 = 2, count: UInt8 = 3)
        -> TransportFeedback
    {
        TransportFeedback(
            sender: SSRC(0x1111_1111), media: SSRC(0x2222_2222), base: SequenceNumber(base), reference: reference,
            count: count,
            deltas: deltas)
    }

    /// Chunks and deltas, as the draft's §3.1.3 and §3.1.4 lay them out, without the fields before them; with the zeros
    /// at the end.
    @Test(
        arguments: [
            ([0], [0x20, 0x01, 0, 0]),
            ([nil, 255], [0x90, 0x00, 255, 0]),
            ([4, 256], [0xD8, 0x00, 4, 1, 0, 0, 0, 0]),
            ([-1], [0x40, 0x01, 0xFF, 0xFF]),
            ([1, nil, 2, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, 3], [0xA8, 0x01, 1, 2, 3, 0, 0, 0]),
            // A run of seven is worth its chunk when two-bit symbols follow.
            (
                Array(repeating: 5, count: 7) + [300, nil, 5],
                [0x20, 0x07, 0xE1, 0x00, 5, 5, 5, 5, 5, 5, 5, 1, 44, 5, 0, 0]
            ),
            (Array(repeating: 1, count: 14), [0x20, 14] + Array(repeating: 1, count: 14)),
            ([1] + Array(repeating: nil, count: 20) + [1], [0xA0, 0x00, 0x80, 0x40, 1, 1, 0, 0]),
            (Array(repeating: nil, count: 8_191) + [1], [0x1F, 0xFF, 0x20, 0x01, 1, 0, 0, 0]),
        ] as [([Int16?], [UInt8])])
    func `statuses are packed and unpacked`(_ deltas: [Int16?], _ packed: [UInt8]) throws {
        let feedback = Self.feedback(deltas, base: 0xFFFE, reference: -2)
        let count = UInt16(deltas.count)
        let length = UInt16((16 + packed.count) / 4)
        let head: [UInt8] = [
            0x8F, 205, UInt8(length >> 8), UInt8(length & 0xFF), 0x11, 0x11, 0x11, 0x11, 0x22, 0x22, 0x22, 0x22, 0xFF,
            0xFE,
            UInt8(count >> 8), UInt8(count & 0xFF), 0xFF, 0xFF, 0xFE, 3,
        ]
        #expect(RTCPCompound([.transportFeedback(feedback)]).bytes == head + packed)
        #expect(try RTCPCompound(parsing: (head + packed).span).packets == [.transportFeedback(feedback)])
    }

    @Test(
        arguments: [
            // Deltas that are missing, the reserved symbol, chunks that are missing, a run of nothing, no packets at
            // all.
            [0x8F, 205, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2, 0, 1, 0, 3, 0, 0, 0, 0, 0x20, 0x03, 1, 1],
            [0x8F, 205, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2, 0, 1, 0, 1, 0, 0, 0, 0, 0x60, 0x01, 1, 1],
            [0x8F, 205, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2, 0, 1, 0, 1, 0, 0, 0, 0, 0xF0, 0x00, 1, 1],
            [0x8F, 205, 0, 4, 0, 0, 0, 1, 0, 0, 0, 2, 0, 1, 0, 1, 0, 0, 0, 0],
            [0x8F, 205, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2, 0, 1, 0, 1, 0, 0, 0, 0, 0x20, 0x00, 0x20, 0x01],
            [0x8F, 205, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0x20, 0x01, 1, 1],
            [0x8F, 205, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2, 0, 1, 0x20, 1, 0, 0, 0, 0, 0x1F, 0xFF, 0, 2],
            [0x8F, 205, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 1, 0, 1],
        ] as [[UInt8]])
    func `contradictions are refused`(_ bytes: [UInt8]) {
        #expect(throws: RTPError.malformedBody(205)) { try RTCPCompound(parsing: bytes.span) }
    }

    /// libwebrtc sets the padding bit for what is no whole word; a run may say more than there are packets; two bits
    /// may say what one would.
    @Test(
        arguments: [
            [
                0xAF, 205, 0, 5, 0x11, 0x11, 0x11, 0x11, 0x22, 0x22, 0x22, 0x22, 0, 1, 0, 1, 0, 0, 2, 3, 0x20, 0x01, 9,
                1,
            ],
            [
                0x8F, 205, 0, 5, 0x11, 0x11, 0x11, 0x11, 0x22, 0x22, 0x22, 0x22, 0, 1, 0, 1, 0, 0, 2, 3, 0x20, 0x05, 9,
                0,
            ],
            [
                0x8F, 205, 0, 5, 0x11, 0x11, 0x11, 0x11, 0x22, 0x22, 0x22, 0x22, 0, 1, 0, 1, 0, 0, 2, 3, 0xD0, 0x00, 9,
                0,
            ],
        ] as [[UInt8]])
    func `what others write otherwise is understood`(_ bytes: [UInt8]) throws {
        #expect(try RTCPCompound(parsing: bytes.span).packets == [.transportFeedback(Self.feedback([9]))])
    }

    @Test(arguments: [3, 11, 47] as [UInt64])
    func `any feedback survives building and parsing`(_ seed: UInt64) throws {
        var random = SeededRandomSource(seed: seed)
        for _ in 0..<200 {
            let (density, reach) = (random.next() % 100, random.next() % 3)
            let deltas = (0..<Int(1 + random.next() % 900)).map { _ -> Int16? in
                guard random.next() % 100 < density else { return nil }
                return Int16(truncatingIfNeeded: random.next()) >> Int16([0, 6, 9][Int(reach)])
            }
            let packets = [
                RTCPPacket.transportFeedback(
                    Self.feedback(deltas, reference: Int32(truncatingIfNeeded: random.next()) >> 8))
            ]
            #expect(try RTCPCompound(parsing: RTCPCompound(packets).bytes.span).packets == packets, "seed \(seed)")
        }
    }
}
