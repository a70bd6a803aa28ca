import Primitives
import RTP
import TestSupport
import Testing

@Suite struct ReceptionStatisticsTests {
    private static func receive(_ numbers: [UInt16]) -> (
        statistics: ReceptionStatistics, positions: [ReceptionStatistics.Position]
    ) {
        var statistics = ReceptionStatistics()
        var clock = VirtualClock()
        let positions = numbers.map { number in
            clock.advance(by: .milliseconds(20))
            return statistics.packetReceived(
                SequenceNumber(number), timestamp: RTPTimestamp(UInt32(number) &* 160), clockRate: 8000, octets: 160,
                at: clock.now)
        }
        return (statistics, positions)
    }

    @Test(
        arguments: [
            ([5], [.newest], 5, 0),
            ([5, 6, 8], [.newest, .newest, .newest], 8, 1),
            ([5, 7, 6], [.newest, .newest, .late], 7, 0),
            ([5, 6, 6], [.newest, .newest, .late], 6, -1),
            ([65534, 65535, 0, 1], [.newest, .newest, .newest, .newest], 65537, 0),
            ([65534, 0, 65535], [.newest, .newest, .late], 65536, 0),
            // 3,000 ahead is a jump, 2,999 is loss; 1,000 back is a jump, 999 is late.
            ([0, 2999], [.newest, .newest], 2999, 2998),
            ([0, 3000], [.newest, .sequenceJump], 0, 0),
            ([5000, 4001], [.newest, .late], 5000, -1),
            ([5000, 4000], [.newest, .sequenceJump], 5000, 0),
            // The second of a row is believed; a lone stray is not, nor are two strays that do not follow each other.
            ([0, 3000, 3001, 3002], [.newest, .sequenceJump, .restarted, .newest], 3002, 0),
            ([0, 3000, 1, 3001], [.newest, .sequenceJump, .newest, .sequenceJump], 1, 0),
            ([0, 3000, 4000, 1], [.newest, .sequenceJump, .sequenceJump, .newest], 1, 0),
            // What was lost before a restart stays lost.
            ([0, 3, 9000, 9001, 9003], [.newest, .newest, .sequenceJump, .restarted, .newest], 9003, 3),
        ] as [([UInt16], [ReceptionStatistics.Position], UInt32, Int64)])
    func `sequence numbers are placed and counted`(
        _ numbers: [UInt16], _ positions: [ReceptionStatistics.Position], _ highest: UInt32, _ lost: Int64
    ) {
        let result = Self.receive(numbers)
        #expect(result.positions == positions)
        #expect(result.statistics.extendedHighestSequence == highest)
        #expect(result.statistics.lost == lost)
        #expect(result.statistics.octets == 160 * result.statistics.packets)
    }

    @Test(
        arguments: [
            ([5, 6, 7], 0), ([5, 8, 9], 1), ([5, 8, 10, 11], 2), ([5, 7, 6], 1), ([65534, 1, 2], 1),
            ([0, 9000, 9001, 9004], 1), ([5, 5, 4], 0),
        ] as [([UInt16], UInt64)])
    func `losses in a row make one run`(_ numbers: [UInt16], _ runs: UInt64) {
        #expect(Self.receive(numbers).statistics.lossRuns == runs)
    }

    @Test func `the fraction lost counts from report to report`() {
        var statistics = ReceptionStatistics()
        let ssrc = SSRC(1)
        func receive(_ numbers: [UInt16]) {
            for number in numbers {
                _ = statistics.packetReceived(
                    SequenceNumber(number), timestamp: RTPTimestamp(0), clockRate: 8000, octets: 1, at: .zero)
            }
        }
        receive([1, 2, 4, 5])
        let first = statistics.report(about: ssrc, lastSenderReport: 7, delay: 8)
        // One of five: 256 / 5.
        #expect(first.fractionLost == 51)
        #expect(first.cumulativeLost == 1)
        #expect(first.extendedHighestSequence == 5)
        #expect((first.ssrc, first.lastSenderReport, first.delaySinceLastSenderReport) == (ssrc, 7, 8))
        #expect(!statistics.hasNews)

        receive([6, 7, 8])
        #expect(statistics.hasNews)
        let second = statistics.report(about: ssrc, lastSenderReport: 0, delay: 0)
        #expect(second.fractionLost == 0)
        #expect(second.cumulativeLost == 1)

        // Duplicates make the loss negative; the fraction stays at zero (RFC 3550 §A.3).
        receive([8, 8, 8])
        let third = statistics.report(about: ssrc, lastSenderReport: 0, delay: 0)
        #expect(third.fractionLost == 0)
        #expect(third.cumulativeLost == -2)
    }

    /// Arrival in milliseconds and timestamp at 8,000 Hz; the jitter after each packet, worked out by hand with the
    /// integer arithmetic of RFC 3550 §A.8: `j += |d| − ((j + 8) >> 4)`, shown as `j >> 4`.
    @Test func `jitter is estimated as the RFC's code does`() {
        let steps: [(milliseconds: Int, timestamp: UInt32, jitter: UInt32)] = [
            (0, 0, 0),
            (20, 160, 0),
            // 10 ms late: d = 80, j = 80.
            (50, 320, 5),
            // On time again: d = 80, j = 80 + 80 − 5 = 155.
            (60, 480, 9),
            // j = 155 − 10 = 145, then 145 − 9 = 136.
            (80, 640, 9),
            (100, 800, 8),
            // 100 ms late: d = 800, j = 136 + 800 − 9 = 927.
            (220, 960, 57),
            // Caught up: d = 800, j = 927 + 800 − 58 = 1669.
            (140, 1120, 104),
        ]
        var statistics = ReceptionStatistics()
        let start = VirtualClock().now
        for (index, step) in steps.enumerated() {
            _ = statistics.packetReceived(
                SequenceNumber(UInt16(index)), timestamp: RTPTimestamp(step.timestamp), clockRate: 8000, octets: 160,
                at: start + .milliseconds(step.milliseconds))
            #expect(statistics.jitter == step.jitter, "after packet \(index)")
        }
        #expect(statistics.jitterDuration == .milliseconds(13))
    }

    @Test func `another clock rate starts another timeline`() {
        var statistics = ReceptionStatistics()
        let start = VirtualClock().now
        let steps: [(Int, UInt32, UInt32)] = [
            (0, 0, 48000), (20, 960, 48000), (40, 5_000_000, 8000), (60, 5_000_160, 8000),
        ]
        for (index, (milliseconds, timestamp, rate)) in steps.enumerated() {
            _ = statistics.packetReceived(
                SequenceNumber(UInt16(index)), timestamp: RTPTimestamp(timestamp), clockRate: rate, octets: 1,
                at: start + .milliseconds(milliseconds))
        }
        #expect(statistics.jitter == 0)
    }
}
