import SDP
import Testing

struct PacketTimeTests {
    @Test(arguments: [
        ("20", 20_000), ("10", 10_000), ("2.5", 2_500), ("120", 120_000), ("0.125", 125), ("20.0", 20_000), ("", nil), ("0", nil), ("-20", nil),
        ("abc", nil), ("20ms", nil), ("1001", nil), ("99999999999999999999", nil), ("2.x", nil),
    ] as [(String, Int?)])
    func `milliseconds are read as far as they are positive numbers`(_ text: String, _ microseconds: Int?) {
        #expect(PacketTime(ptime: text, maxptime: nil).preferred == microseconds)
        #expect(PacketTime(ptime: nil, maxptime: text).maximum == microseconds)
    }
}
