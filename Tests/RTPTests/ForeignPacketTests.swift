import Primitives
import RTP
import TestSupport
import Testing

/// Packets that other stacks made (`fixtures/rtp`).
@Suite struct ForeignPacketTests {
    private static let block = ReportBlock(
        ssrc: SSRC(0x1122_3344), fractionLost: 64, cumulativeLost: -3, extendedHighestSequence: 0x0001_FFFE,
        jitter: 480,
        lastSenderReport: 0xAABB_CCDD, delaySinceLastSenderReport: 65536)

    @Test(
        arguments: [
            (
                "sender-report",
                [
                    .senderReport(
                        SenderReport(
                            ssrc: SSRC(0x5566_7788), ntp: NTPTimestamp(0xE9A1_B2C3_8000_0000),
                            timestamp: RTPTimestamp(0xFFFF_FF00),
                            packetCount: 1000, octetCount: 160_000, blocks: [block])),
                    .sourceDescription(SourceDescription([.init(ssrc: SSRC(0x5566_7788), cname: "gateway")])),
                ]
            ),
            ("receiver-report", [.receiverReport(ReceiverReport(ssrc: SSRC(1), blocks: [block, block]))]),
            ("bye", [.receiverReport(ReceiverReport(ssrc: SSRC(1))), .goodbye(Goodbye([SSRC(1), SSRC(2)]))]),
            (
                "nack",
                [
                    .genericNACK(
                        GenericNACK(
                            sender: SSRC(1), media: SSRC(0x1122_3344), lost: [12, 13, 29, 100].map(SequenceNumber.init))
                    )
                ]
            ),
            ("pli", [.pictureLossIndication(.init(sender: SSRC(1), media: SSRC(0x1122_3344)))]),
            (
                "fir",
                [.fullIntraRequest(.init(sender: SSRC(1), entries: [.init(ssrc: SSRC(0x1122_3344), commandNumber: 7)]))]
            ),
            (
                "remb",
                [
                    .estimatedMaximumBitrate(
                        .init(
                            sender: SSRC(1), bitsPerSecond: (2_500_000 >> 4) << 4,
                            sources: [SSRC(0x1122_3344), SSRC(5)]))
                ]
            ),
        ] as [(String, [RTCPPacket])])
    func `aiortc's RTCP is understood, and ours is the same to the byte`(_ name: String, _ packets: [RTCPPacket]) throws
    {
        let bytes = try Fixtures.bytes("rtp/aiortc/rtcp-\(name).bin")
        #expect(try RTCPCompound(parsing: bytes.span).packets == packets)
        #expect(RTCPCompound(packets).bytes == bytes)
    }

    /// Chromium pads by single bytes and says so with the padding bit; where it needs none, ours is the same to the
    /// byte.
    @Test(arguments: [
        (
            "1",
            TransportFeedback(
                sender: SSRC(1), media: SSRC(0x2246_8B32), base: SequenceNumber(1), reference: 376_899, count: 0,
                deltas: [61, 16, 40, 34, 46, 37, 1, 32, 17])
        ),
        (
            "3",
            TransportFeedback(
                sender: SSRC(1), media: SSRC(0x2246_8B32), base: SequenceNumber(21), reference: 376_901, count: 2,
                deltas: [39, 2, 1, 3, 1, 28, 22, 0, 0, 0, 1, 2, 8, 0])
        ),
    ])
    func `Chromium's transport-wide feedback is understood`(_ number: String, _ feedback: TransportFeedback) throws {
        let bytes = try Fixtures.bytes("rtp/chromium/transport-feedback-\(number).bin")
        #expect(try RTCPCompound(parsing: bytes.span).packets == [.transportFeedback(feedback)])
        var plain = bytes
        if bytes[0] & 0x20 != 0 {
            plain[0] &= ~0x20
            plain[bytes.count - 1] = 0
        }
        #expect(RTCPCompound([.transportFeedback(feedback)]).bytes == plain)
    }

    @Test(arguments: [
        ("plain", 12..<32), ("csrc-padding", 20..<40), ("one-byte-extensions", 28..<48),
        ("two-byte-extensions", 56..<76),
    ])
    func `aiortc's RTP is understood`(_ name: String, _ payload: Range<Int>) throws {
        let packet = try Fixtures.bytes("rtp/aiortc/rtp-\(name).bin")
        let header = try RTPHeader(parsing: packet.span)
        #expect(header.marker)
        #expect(header.payloadType == PayloadType(111))
        #expect(header.sequenceNumber == SequenceNumber(65535))
        #expect(header.timestamp == RTPTimestamp(.max))
        #expect(header.ssrc == SSRC(0x1122_3344))
        #expect(header.payloadRange == payload)
        #expect(Array(packet[header.payloadRange]) == Array(0..<20))
    }

    @Test(
        arguments: [
            ("one-byte-extensions", 1, Array("audio".utf8)),
            ("one-byte-extensions", 3, [0x12, 0x34, 0x56]),
            ("two-byte-extensions", 1, Array("a-mid-of-more-than-sixteen-bytes".utf8)),
            ("two-byte-extensions", 20, [0x12, 0x34, 0x56]),
        ] as [(String, UInt8, [UInt8])])
    func `aiortc's header extensions are found`(_ name: String, _ id: UInt8, _ value: [UInt8]) throws {
        let packet = try Fixtures.bytes("rtp/aiortc/rtp-\(name).bin")
        let range = try #require(try RTPHeader(parsing: packet.span).extensionElement(id, in: packet.span))
        #expect(Array(packet[range]) == value)
    }

    @Test func `aiortc's contributing sources are passed over`() throws {
        let packet = try Fixtures.bytes("rtp/aiortc/rtp-csrc-padding.bin")
        let header = try RTPHeader(parsing: packet.span)
        #expect(header.extensionRange == 20..<20)
        #expect(header.payloadRange.lowerBound == 20)
    }

    @Test func `aiortc's retransmission names the original`() throws {
        let packet = try Fixtures.bytes("rtp/aiortc/rtp-retransmission.bin")
        #expect(try RTPHeader(parsing: packet.span).originalSequenceNumber(in: packet.span) == SequenceNumber(65535))
    }

    @Test func `FFmpeg's stream is in order and its reports run with it`() throws {
        var statistics = ReceptionStatistics()
        var clock = VirtualClock()
        for index in 1...3 {
            let packet = try Fixtures.bytes("rtp/ffmpeg/opus-\(index).bin")
            let header = try RTPHeader(parsing: packet.span)
            let position = statistics.packetReceived(
                header.sequenceNumber, timestamp: header.timestamp, clockRate: 48000, octets: header.payloadRange.count,
                at: clock.now)
            #expect(position == .newest)
            clock.advance(by: .milliseconds(20))
        }
        #expect(statistics.lost == 0)
        #expect(statistics.jitter == 0)

        var reports: [SenderReport] = []
        for name in ["sender-report", "later-report"] {
            let bytes = try Fixtures.bytes("rtp/ffmpeg/\(name).bin")
            guard case .senderReport(let report) = try RTCPCompound(parsing: bytes.span).packets.first else {
                Issue.record("\(name) does not begin with a sender report")
                return
            }
            reports.append(report)
        }
        // Between two reports both clocks advance by the same time, to within a packet.
        let wall = Double(reports[1].ntp.rawValue &- reports[0].ntp.rawValue) / 4_294_967_296
        let media = Double(reports[1].timestamp - reports[0].timestamp) / 48000
        #expect(abs(wall - media) < 0.02)
    }
}
