import AudioStreams
import Testing

struct StreamFormatTests {
    @Test(
        arguments: [
            (.l16, nil, 16_000), (.l16, 8_000, 8_000), (.l16, 24_000, 24_000), (.l16, 48_000, 48_000),
            (.l16, 44_100, nil), (.pcmu, nil, 8_000), (.pcmu, 16_000, nil), (.pcma, 8_000, 8_000), (.opus, nil, 48_000),
            (.opus, 16_000, nil),
        ] as [(StreamFormat.Encoding, Int?, Int?)])
    func `a format has the rates of its encoding`(_ encoding: StreamFormat.Encoding, _ rate: Int?, _ found: Int?) {
        #expect(StreamFormat(encoding, rate: rate)?.rate == found)
    }

    @Test func `linear samples have their low byte first`() {
        #expect(StreamFormat.standard.encode([1, -2, 0x1234]) == [1, 0, 0xFE, 0xFF, 0x34, 0x12])
        #expect(StreamFormat.standard.decode([1, 0, 0xFE, 0xFF, 0x34, 0x12, 9]) == [1, -2, 0x1234])
    }

    @Test(arguments: [StreamFormat.muLaw, .aLaw])
    func `silence is quiet`(_ format: StreamFormat) {
        #expect(format.decode([format.silence]).allSatisfy { abs($0) <= 8 })
        #expect(format.decode(format.encode([4_096])).allSatisfy { abs($0 - 4_096) <= 128 })
    }
}
