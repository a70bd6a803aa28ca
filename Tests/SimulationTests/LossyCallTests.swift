import MediaPlane
import Primitives
import RTP
import TestSupport
import Testing

@Suite struct LossyCallTests {
    typealias Conditions = VirtualNetwork<SimulatedCall.Packet>.Conditions

    @Test(arguments: [
        Conditions(),
        Conditions(loss: 0.05, duplication: 0.01, jitter: .milliseconds(60)),
        Conditions(loss: 0.3, duplication: 0.05, latency: .milliseconds(150), jitter: .milliseconds(200)),
    ])
    func `a call of ten minutes stands, and each peer hears one stream whose gaps are the network's`(
        _ conditions: Conditions
    ) {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed", seed)
        var call = SimulatedCall(conditions, seed: seed)
        call.run(for: .seconds(600))
        for side in LegIndex.allCases {
            #expect(call.events[side] == [.iceConnected, .dtlsConnected, .mediaReceived], "seed \(seed)")
            let heard = call.heard[side] ?? []
            // 50 packets a second for ten minutes, lost on two networks, some of them doubled on the second.
            let expected = 30_000 * (1 - conditions.loss) * (1 - conditions.loss)
            #expect(Double(heard.count) > 0.9 * expected, "seed \(seed)")
            #expect(Set(heard.map(\.header.ssrc)).count == 1)
            // One payload per number, one number per payload, and the same distance between them everywhere.
            var offsets: Set<UInt16> = []
            for (header, payload) in heard {
                let original = UInt16(payload[0]) << 8 | UInt16(payload[1])
                offsets.insert(header.sequenceNumber.rawValue &- original)
            }
            #expect(offsets.count == 1, "seed \(seed)")
            #expect((call.reports[side] ?? 0) > 60)
        }
    }

    @Test
    func `a peer that falls silent loses the leg after the consent time, not before, and the other keeps its own`() {
        var call = SimulatedCall(Conditions(loss: 0.1, jitter: .milliseconds(30)), seed: 7)
        call.run(for: .seconds(60))
        call.silent = [.b]
        call.run(for: .seconds(25))
        #expect(call.events[.b]?.contains(.failed(.consentExpired)) == false)
        call.run(for: .seconds(10))
        #expect(call.events[.b]?.last == .failed(.consentExpired))
        #expect(call.events[.b]?.filter { $0 == .failed(.consentExpired) }.count == 1)
        #expect(call.events[.a]?.last == .mediaReceived)
    }

    @Test func `a network that lets nothing through ends both legs as never connected`() {
        var call = SimulatedCall(Conditions(loss: 1), seed: 8)
        call.run(for: .seconds(40))
        for side in LegIndex.allCases { #expect(call.events[side] == [.failed(.neverConnected)]) }
    }
}
