import Primitives
import Quality
import TestSupport
import Testing

struct StreamQualityTests {
    private static func stream(
        _ codec: String? = "PCMU", packets: UInt64, lost: Int64 = 0, runs: UInt64? = nil, reported: Double? = nil,
        playout: StreamQuality.Playout? = nil
    ) -> StreamQuality {
        var stream = StreamQuality()
        stream.encoding = codec
        (stream.packets, stream.lost, stream.lossRuns, stream.reportedLoss, stream.playout) = (
            packets, lost, runs, reported, playout
        )
        return stream
    }

    private static func path(loss: Double = 0, recovered: Double = 0, burstRatio: Double = 1, depth: Duration? = nil)
        -> PathConditions
    {
        var path = PathConditions()
        (path.loss, path.recovered, path.burstRatio, path.playoutDepth) = (loss, recovered, burstRatio, depth)
        return path
    }

    @Test func `delay adds up what lies between mouth and ear`() {
        var path = PathConditions()
        #expect(path.delay == .milliseconds(70))
        path.roundTrip = .milliseconds(100)
        path.playoutDepth = .milliseconds(60)
        path.packetTime = .milliseconds(60)
        path.fixedDelay = .zero
        #expect(path.delay == .milliseconds(170))
    }

    @Test func `what was restored was not lost`() {
        #expect(Self.path(loss: 0.05, recovered: 0.03).unrestoredLoss == 0.05 - 0.03)
        #expect(Self.path(loss: 0.01, recovered: 0.03).unrestoredLoss == 0)
    }

    /// Earlier counts, later counts, and the conditions that follow for the time between.
    @Test(
        arguments: [
            (nil, stream(packets: 50), path()),
            (nil, stream(packets: 45, lost: 5), path(loss: 0.1)),
            (stream(packets: 45, lost: 5), stream(packets: 95, lost: 5), path()),
            (stream(packets: 50), stream(packets: 95, lost: 5, runs: 5), path(loss: 0.1)),
            // Five in a row: 5 · (1 − 0.1).
            (stream(packets: 50, runs: 2), stream(packets: 95, lost: 5, runs: 3), path(loss: 0.1, burstRatio: 4.5)),
            // Duplicates outnumber losses.
            (stream(packets: 50), stream(packets: 103, lost: -3), path()),
            // Of another stream.
            (stream(packets: 500, lost: 400), stream(packets: 50), path()),
            // What a receiver reports counts for what is sent.
            (nil, stream(packets: 50, reported: 0.25), path(loss: 0.25)),
        ] as [(StreamQuality?, StreamQuality, PathConditions)])
    func `the time between two measurements is rated`(
        _ earlier: StreamQuality?, _ later: StreamQuality, _ path: PathConditions
    ) {
        #expect(later.rated(since: earlier).rating == EModel(.g711, over: path))
    }

    /// G.107 §7.5: 1 for random losses, 1 ÷ (p + q) for a chain that changes between loss and no loss with p and q.
    @Test(arguments: [(0.05, 0.95, 1.0), (0.02, 0.48, 2), (0.01, 0.19, 5), (0.005, 0.12, 8)])
    func `bursts are measured as G.107 defines them`(_ p: Double, _ q: Double, _ ratio: Double) {
        var random = SeededRandomSource(seed: 17)
        var (packets, lost, runs, isLost): (UInt64, Int64, UInt64, Bool) = (0, 0, 0, false)
        for _ in 0..<400_000 {
            let chance = Double(random.next() >> 11) / Double(1 << 53)
            let wasLost = isLost
            isLost = isLost ? chance >= q : chance < p
            if isLost { lost += 1 } else { packets += 1 }
            if isLost, !wasLost { runs += 1 }
        }
        let measured = Self.stream(packets: packets, lost: lost, runs: runs).rated(since: nil).path?.burstRatio ?? 0
        #expect(abs(measured - ratio) < 0.1 * ratio, "seed 17: \(measured)")
    }

    @Test func `restored audio is subtracted where it is counted`() {
        let before = StreamQuality.Playout(depth: .milliseconds(80), played: 48_000, recovered: 9_600)
        let after = StreamQuality.Playout(depth: .milliseconds(60), played: 96_000, recovered: 12_000)
        let rated = Self.stream("opus", packets: 90, lost: 10, playout: after)
            .rated(since: Self.stream("opus", packets: 50, playout: before))
        let expected = EModel(
            .opus(hasUncountedRecovery: false), over: Self.path(loss: 0.2, recovered: 0.05, depth: .milliseconds(60)))
        #expect(rated.rating == expected)
        #expect(rated.path?.recovered == 0.05)
        // What the peer restores, nobody here knows.
        #expect(Self.stream("opus", packets: 50).rated(since: nil).rating == EModel(.opus(), over: Self.path()))
    }

    @Test(
        arguments: [
            (nil, stream(packets: 0)),
            (stream(packets: 50), stream(packets: 50)),
            (nil, stream("telephone-event", packets: 50)),
            (nil, stream(nil, packets: 50)),
        ] as [(StreamQuality?, StreamQuality)])
    func `what cannot be rated is not`(_ earlier: StreamQuality?, _ later: StreamQuality) {
        #expect(later.rated(since: earlier).rating == nil)
    }
}
