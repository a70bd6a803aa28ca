import Primitives
import Testing

@Suite struct SerialNumberTests {
    @Test(
        arguments: [
            (0, 0, 0), (1, 0, 1), (0, 1, -1), (0, 65_535, 1), (65_535, 0, -1), (2, 65_534, 4),
            (32_767, 0, 32_767), (0, 32_767, -32_767),
            // Half the circle apart, order is undefined (RFC 1982 §3.2): neither is newer.
            (32_768, 0, -32_768), (0, 32_768, -32_768), (32_769, 0, -32_767),
        ] as [(UInt16, UInt16, Int)])
    func `sequence numbers are compared around the wrap`(_ a: UInt16, _ b: UInt16, _ distance: Int) {
        #expect(SequenceNumber(a) - SequenceNumber(b) == distance)
        #expect(SequenceNumber(a).isNewer(than: SequenceNumber(b)) == (distance > 0))
    }

    @Test(
        arguments: [
            (65_535, 1, 0), (0, -1, 65_535), (65_000, 1_000, 464), (7, 65_536, 7), (7, -65_536, 7), (0, Int.min, 0),
            (0, Int.max, 65_535),
        ] as [(UInt16, Int, UInt16)])
    func `steps wrap`(_ start: UInt16, _ steps: Int, _ end: UInt16) {
        #expect(SequenceNumber(start) + steps == SequenceNumber(end))
    }

    @Test(
        arguments: [
            (0, 0, 0), (160, 0, 160), (0, 160, -160), (100, 4_294_967_196, 200), (4_294_967_196, 100, -200),
            (0x7FFF_FFFF, 0, 0x7FFF_FFFF), (0x8000_0000, 0, -0x8000_0000), (0, 0x8000_0000, -0x8000_0000),
        ] as [(UInt32, UInt32, Int)])
    func `timestamps are compared around the wrap`(_ a: UInt32, _ b: UInt32, _ distance: Int) {
        #expect(RTPTimestamp(a) - RTPTimestamp(b) == distance)
        #expect(RTPTimestamp(a).isNewer(than: RTPTimestamp(b)) == (distance > 0))
        #expect(RTPTimestamp(b) + distance == RTPTimestamp(a))
    }

    @Test func `payload types have seven bits`() {
        #expect(PayloadType(-1) == nil)
        #expect(PayloadType(128) == nil)
        #expect(PayloadType(127)?.rawValue == 127)
        #expect(PayloadType(maskingHeaderByte: 0x80 | 111) == PayloadType(111))
    }
}
