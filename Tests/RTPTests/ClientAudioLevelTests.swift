import RTP
import Testing

/// The header extension of RFC 6464 §3.
struct ClientAudioLevelTests {
    @Test(
        arguments: [
            ([0x00], 0), ([0x80], 0), ([0x01], 1), ([0x1E], 30), ([0x9E], 30), ([0x7F], 127), ([0xFF], 127),
            // Another length is another thing.
            ([], nil), ([0x1E, 0x00], nil), ([0x1E, 0, 0, 0], nil),
        ] as [([UInt8], UInt8?)])
    func `a byte says how far below the loudest, whether or not for speech`(_ data: [UInt8], _ expected: UInt8?) {
        let level = ClientAudioLevel(parsing: data.span)
        #expect(level?.decibelsBelow == expected)
        #expect(level.map(\.decibels) == expected.map { 0 - Double($0) })
    }
}
