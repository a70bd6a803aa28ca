import Primitives
import RTP
import Testing

@Suite struct RTCPCompoundTests {
    private static let block = ReportBlock(
        ssrc: SSRC(0xA1A2_A3A4), fractionLost: 0x40, cumulativeLost: -2, extendedHighestSequence: 0x0001_0203,
        jitter: 0x55,
        lastSenderReport: 0x0102_0304, delaySinceLastSenderReport: 0x0506_0708)
    private static let blockBytes: [UInt8] = [
        0xA1, 0xA2, 0xA3, 0xA4, 0x40, 0xFF, 0xFF, 0xFE, 0, 1, 2, 3, 0, 0, 0, 0x55, 1, 2, 3, 4, 5, 6, 7, 8,
    ]

    @Test(
        arguments: [
            (
                .senderReport(
                    SenderReport(
                        ssrc: SSRC(1), ntp: NTPTimestamp(0x1122_3344_5566_7788), timestamp: RTPTimestamp(0x99),
                        packetCount: 2, octetCount: 3,
                        blocks: [block])),
                [
                    0x81, 200, 0, 12, 0, 0, 0, 1, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0, 0, 0, 0x99, 0, 0,
                    0, 2, 0, 0, 0, 3,
                ]
                    + blockBytes
            ),
            (
                .receiverReport(ReceiverReport(ssrc: SSRC(1), blocks: [block])),
                [0x81, 201, 0, 7, 0, 0, 0, 1] + blockBytes
            ),
            (.receiverReport(ReceiverReport(ssrc: SSRC(1))), [0x80, 201, 0, 1, 0, 0, 0, 1]),
            (
                .sourceDescription(
                    SourceDescription([.init(ssrc: SSRC(1), cname: "ab"), .init(ssrc: SSRC(2), cname: "c")])),
                [0x82, 202, 0, 5, 0, 0, 0, 1, 1, 2, 0x61, 0x62, 0, 0, 0, 0, 0, 0, 0, 2, 1, 1, 0x63, 0]
            ),
            (
                .sourceDescription(SourceDescription([.init(ssrc: SSRC(1), cname: nil)])),
                [0x81, 202, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0]
            ),
            (.goodbye(Goodbye([SSRC(1), SSRC(2)])), [0x82, 203, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2]),
            (.goodbye(Goodbye([])), [0x80, 203, 0, 0]),
            (
                .genericNACK(
                    GenericNACK(sender: SSRC(1), media: SSRC(2), lost: [65535, 0, 15, 16].map(SequenceNumber.init))),
                [0x81, 205, 0, 4, 0, 0, 0, 1, 0, 0, 0, 2, 0xFF, 0xFF, 0x80, 0x01, 0, 16, 0, 0]
            ),
            (
                .pictureLossIndication(.init(sender: SSRC(1), media: SSRC(2))),
                [0x81, 206, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2]
            ),
            (
                .fullIntraRequest(.init(sender: SSRC(1), entries: [.init(ssrc: SSRC(2), commandNumber: 7)])),
                [0x84, 206, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 7, 0, 0, 0]
            ),
            (
                // 262,143 is the largest mantissa; the exponent is 1.
                .estimatedMaximumBitrate(.init(sender: SSRC(1), bitsPerSecond: 262_143 * 2, sources: [SSRC(2)])),
                [0x8F, 206, 0, 5, 0, 0, 0, 1, 0, 0, 0, 0, 0x52, 0x45, 0x4D, 0x42, 1, 0x07, 0xFF, 0xFF, 0, 0, 0, 2]
            ),
        ] as [(RTCPPacket, [UInt8])])
    func `packets are built and parsed`(_ packet: RTCPPacket, _ bytes: [UInt8]) throws {
        #expect(RTCPCompound([packet]).bytes == bytes)
        #expect(try RTCPCompound(parsing: bytes.span).packets == [packet])
    }

    @Test(
        arguments: [
            // APP, XR, congestion feedback of RFC 8888, application feedback that is no REMB, extended reports to come.
            ([0x80, 204, 0, 2, 0, 0, 0, 1, 0x61, 0x62, 0x63, 0x64], [.other(type: 204, format: 0)]),
            ([0x80, 207, 0, 1, 0, 0, 0, 1], [.other(type: 207, format: 0)]),
            ([0x8B, 205, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2], [.other(type: 205, format: 11)]),
            ([0x8F, 206, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0, 0x52, 0x45, 0x4D, 0x43], [.other(type: 206, format: 15)]),
            // A report with a profile-specific extension, and padding at the very end.
            ([0x80, 201, 0, 2, 0, 0, 0, 1, 9, 9, 9, 9], [.receiverReport(ReceiverReport(ssrc: SSRC(1)))]),
            ([0xA0, 201, 0, 2, 0, 0, 0, 1, 0, 0, 0, 4], [.receiverReport(ReceiverReport(ssrc: SSRC(1)))]),
            // BYE with a reason; SDES items other than CNAME.
            ([0x81, 203, 0, 2, 0, 0, 0, 1, 3, 0x61, 0x62, 0x63], [.goodbye(Goodbye([SSRC(1)]))]),
            (
                [0x81, 202, 0, 3, 0, 0, 0, 1, 2, 1, 0x61, 1, 1, 0x62, 0, 0],
                [.sourceDescription(SourceDescription([.init(ssrc: SSRC(1), cname: "b")]))]
            ),
            // The estimate needs more than 64 bits.
            (
                [0x8F, 206, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0x52, 0x45, 0x4D, 0x42, 0, 0xFF, 0xFF, 0xFF],
                [.estimatedMaximumBitrate(.init(sender: SSRC(1), bitsPerSecond: .max, sources: []))]
            ),
            // Reduced size (RFC 5506): feedback alone.
            (
                [0x81, 206, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2],
                [.pictureLossIndication(.init(sender: SSRC(1), media: SSRC(2)))]
            ),
        ] as [([UInt8], [RTCPPacket])])
    func `datagrams parse to packets`(_ bytes: [UInt8], _ packets: [RTCPPacket]) throws {
        #expect(try RTCPCompound(parsing: bytes.span).packets == packets)
    }

    @Test(
        arguments: [
            ([], .malformedLength),
            ([0x80, 201, 0], .malformedLength),
            ([0x40, 201, 0, 1, 0, 0, 0, 1], .malformedVersion),
            ([0x80, 201, 0, 2, 0, 0, 0, 1], .malformedLength),
            ([0x80, 201, 0, 1, 0, 0, 0, 1, 0x80], .malformedLength),
            ([0x80, 201, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0], .malformedVersion),
            ([0x81, 201, 0, 1, 0, 0, 0, 1], .malformedBody(201)),
            ([0x80, 201, 0, 0], .malformedBody(201)),
            ([0x80, 200, 0, 1, 0, 0, 0, 1], .malformedBody(200)),
            ([0x82, 203, 0, 1, 0, 0, 0, 1], .malformedBody(203)),
            ([0x81, 202, 0, 2, 0, 0, 0, 1, 1, 9, 0, 0], .malformedBody(202)),
            ([0x81, 205, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2], .malformedBody(205)),
            ([0x81, 206, 0, 1, 0, 0, 0, 1], .malformedBody(206)),
            ([0x84, 206, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2], .malformedBody(206)),
            ([0x8F, 206, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0x52, 0x45, 0x4D, 0x42, 1, 0, 0, 0], .malformedBody(206)),
            // Padding: none, odd, more than there is, not in the last packet.
            ([0xA0, 201, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0], .malformedPadding),
            ([0xA0, 201, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3], .malformedPadding),
            ([0xA0, 201, 0, 2, 0, 0, 0, 1, 0, 0, 0, 12], .malformedPadding),
            ([0xA0, 201, 0, 2, 0, 0, 0, 1, 0, 0, 0, 4, 0x80, 203, 0, 0], .malformedPadding),
            (Array(repeating: [0x80, 203, 0, 0], count: 65).flatMap { $0 }, .limitPackets),
        ] as [([UInt8], RTPError)])
    func `malformed datagrams are refused as a whole`(_ bytes: [UInt8], _ error: RTPError) {
        #expect(throws: error) { try RTCPCompound(parsing: bytes.span) }
    }

    @Test func `a NACK lists what it packs, across the wrap`() {
        let lost = [65530, 65535, 0, 10, 11, 500].map(SequenceNumber.init)
        let nack = GenericNACK(sender: SSRC(1), media: SSRC(2), lost: lost)
        #expect(nack.entries.map(\.packet) == [65530, 11, 500].map(SequenceNumber.init))
        #expect(nack.lost == lost)
    }
}
