import Primitives
import SDP
import Testing

struct PacketTimeTests {
    @Test(
        arguments: [
            ("20", 20_000), ("10", 10_000), ("2.5", 2_500), ("120", 120_000), ("0.125", 125), ("20.0", 20_000),
            ("", nil), ("0", nil), ("-20", nil),
            ("abc", nil), ("20ms", nil), ("1001", nil), ("99999999999999999999", nil), ("2.x", nil),
        ] as [(String, Int?)])
    func `milliseconds are read as far as they are positive numbers`(_ text: String, _ microseconds: Int?) {
        #expect(PacketTime(ptime: text, maxptime: nil).preferred == microseconds)
        #expect(PacketTime(ptime: nil, maxptime: text).maximum == microseconds)
    }

    @Test func `each leg keeps what its own peer wants`() throws {
        var (offer, answer) = (PeerText(), PeerText().answering)
        offer.lines[0].attributes += ["ptime:40", "maxptime:60"]
        answer.lines[0].attributes += ["ptime:10"]
        var call = TestCall()
        _ = try call.offer(offer.text)
        _ = try call.answer(answer.text)
        #expect(call.caller.negotiated?.media[0].packetTime == PacketTime(preferred: 40_000, maximum: 60_000))
        #expect(call.callee.negotiated?.media[0].packetTime == PacketTime(preferred: 10_000))
    }

    @Test func `a peer that is coded for keeps its comfort noise, if it counts like the codec`() throws {
        var (offer, answer) = (PeerText(), PeerText().answering)
        offer.lines[0].formats = "0 13 106 101"
        offer.lines[0].attributes = [
            "rtcp-mux", "rtpmap:0 PCMU/8000", "rtpmap:13 CN/8000", "rtpmap:106 CN/32000",
            "rtpmap:101 telephone-event/8000",
        ]
        answer.lines[0].formats = "111"
        var call = TestCall()
        call.policy = .engine
        let made = try PeerDescription(reading: call.offer(offer.text), as: .offer)
        let opus = try #require(made.media[0].codecs.first { $0.isNamed("opus") }?.payloadType.rawValue)
        answer.lines[0].formats = "\(opus)"
        answer.lines[0].attributes = ["rtcp-mux", "rtpmap:\(opus) opus/48000/2"]
        _ = try call.answer(answer.text)
        #expect(call.caller.negotiated?.media[0].codecs.map(\.payloadType.rawValue) == [0, 13, 101])
    }
}
