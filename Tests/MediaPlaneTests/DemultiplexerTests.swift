import MediaPlane
import Testing

@Suite struct DemultiplexerTests {
    @Test(
        arguments: [
            (0...3, .stun), (4...19, .other), (20...63, .dtls), (64...79, .turnChannel), (80...127, .other),
            (128...191, .rtp),
            (192...255, .other),
        ] as [(ClosedRange<UInt8>, DatagramKind)])
    func `the first byte tells the protocol`(_ first: ClosedRange<UInt8>, _ kind: DatagramKind) {
        for byte in first { #expect(DatagramKind(of: [byte, 0, 0, 0].span) == kind) }
    }

    @Test(arguments: [(0...191, .rtp), (192...223, .rtcp), (224...255, .rtp)] as [(ClosedRange<UInt8>, DatagramKind)])
    func `the second byte tells RTCP from RTP`(_ second: ClosedRange<UInt8>, _ kind: DatagramKind) {
        for byte in second {
            for first: UInt8 in [128, 0x90, 191] { #expect(DatagramKind(of: [first, byte].span) == kind) }
        }
    }

    @Test(arguments: [[], [128]] as [[UInt8]])
    func `too little to tell is nothing known`(_ bytes: [UInt8]) {
        #expect(DatagramKind(of: bytes.span) == .other)
    }
}
