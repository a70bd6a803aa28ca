import Audio
import Primitives
import TestSupport
import Testing

/// What is said on the left and on the right, as a function of time.
private enum Sides: CaseIterable {
    /// A sine, and the same upside down.
    case opposite
    case left
    case right
    /// The same on both.
    case same
    /// 440 Hz on the left, 660 Hz on the right.
    case different

    func samples(at position: Int) -> (left: Int16, right: Int16) {
        let low = Self.low[position % Self.low.count]
        return switch self {
        case .opposite: (low, -low)
        case .left: (low, 0)
        case .right: (0, low)
        case .same: (low, low)
        case .different: (low, Self.high[position % Self.high.count])
        }
    }

    /// Whole periods.
    private static let low = tone(440, count: 2_400)
    private static let high = tone(660, count: 2_400)
}

/// A decoder of two channels, or of the left one alone, whose packets say where they begin.
private struct SidesDecoder: AudioDecoder, ~Copyable {
    let sides: Sides
    let channels: Int
    let hasRedundancy: Bool

    static func payload(_ position: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: position >> (8 * $0)) } }

    func sampleCount(of payload: Span<UInt8>) -> Int? { 960 }
    func carriesRedundancy(_ payload: Span<UInt8>) -> Bool { hasRedundancy }

    mutating func decode(_ payload: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(AudioCodecError) -> Int
    {
        fill(&samples, from: Self.position(payload), count: 960)
        return 960
    }

    mutating func recover(from payload: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(AudioCodecError) {
        let count = samples.count / channels
        fill(&samples, from: Self.position(payload) - count, count: count)
    }

    mutating func conceal(into samples: inout MutableSpan<Int16>) {
        for index in samples.indices { samples[index] = 0 }
    }

    mutating func reset() {}

    private static func position(_ payload: Span<UInt8>) -> Int {
        (0..<4).reduce(0) { $0 | Int(payload[$1]) << (8 * $1) }
    }

    private func fill(_ samples: inout MutableSpan<Int16>, from start: Int, count: Int) {
        for index in 0..<count {
            let (left, right) = sides.samples(at: start + index)
            samples[index * channels] = left
            if channels == 2 { samples[index * 2 + 1] = right }
        }
    }
}

/// A network whose packets get lost, overtake each other and drift, the same for the same seed.
private struct RoughNetwork {
    var seed: UInt64
    /// Percent.
    var loss: UInt64 = 5
    /// Milliseconds.
    var jitter: UInt64 = 60
    /// Of the sender's clock against ours, parts per million.
    var drift = 0.0
    /// Milliseconds that a route takes longer which is taken for a while.
    var detour: UInt64 = 80

    struct Outcome {
        let left: [Int16]
        let right: [Int16]
        let statistics: AudioPlayout.Statistics
    }

    func carry(_ sides: Sides, channels: Int = 2, hasRedundancy: Bool = false, packets: Int = 1_000) -> Outcome {
        var random = SeededRandomSource(seed: seed)
        var playout = AudioPlayout(channels: channels)
        var decoder = SidesDecoder(sides: sides, channels: channels, hasRedundancy: hasRedundancy)
        var arrivals: [(time: MonotonicTime, index: Int)] = []
        let course = MonotonicTime(nanoseconds: 1_000_000_000)
        for index in 0..<packets where random.next() % 100 >= loss {
            let sent = course + .nanoseconds(Int64(Double(index) * 20_000_000 * (1 - drift / 1_000_000)))
            let delay = 20 + (300..<600 ~= index ? detour : 0) + (jitter == 0 ? 0 : random.next() % jitter)
            arrivals.append((sent + .milliseconds(Int64(delay)), index))
        }
        arrivals.sort { $0.time < $1.time }
        var (left, right): ([Int16], [Int16]) = ([], [])
        var frame = [Int16](repeating: 0, count: 960 * channels)
        var next = 0
        for cycle in 0..<packets {
            let now = course + .milliseconds(Int64(20 * cycle))
            while next < arrivals.count, arrivals[next].time <= now {
                let index = arrivals[next].index
                playout.insert(
                    SidesDecoder.payload(index * 960).span,
                    number: SequenceNumber(UInt16(truncatingIfNeeded: 65_000 + index)),
                    timestamp: RTPTimestamp(UInt32(truncatingIfNeeded: index * 960)), clockRate: 48_000,
                    sampleCount: 960,
                    at: arrivals[next].time)
                next += 1
            }
            var span = frame.mutableSpan
            _ = playout.pull(into: &span, using: &decoder, at: now)
            for index in 0..<960 {
                left.append(frame[index * channels])
                right.append(frame[index * channels + channels - 1])
            }
        }
        return Outcome(left: left, right: right, statistics: playout.statistics)
    }
}

/// Two channels through the jitter buffer: one decision for both, whatever happens.
struct StereoPlayoutTests {
    private static let networks = [
        RoughNetwork(seed: 1), RoughNetwork(seed: 2, loss: 15, jitter: 25),
        RoughNetwork(seed: 3, loss: 0, jitter: 90, drift: 900),
        RoughNetwork(seed: 4, loss: 3, jitter: 40, drift: -900),
    ]

    @Test(arguments: networks, [false, true])
    private func `loss, reordering and stretching leave both channels in step`(
        _ network: RoughNetwork, _ hasRedundancy: Bool
    ) {
        let heard = network.carry(.opposite, hasRedundancy: hasRedundancy)
        let isInStep = zip(heard.left, heard.right).allSatisfy { $0 == -$1 }
        #expect(isInStep)
        // All of it has happened.
        #expect(heard.statistics.shortened > 0)
        #expect(heard.statistics.lengthened > 0)
        #expect(heard.statistics.concealed > 0)
        #expect((heard.statistics.recovered > 0) == hasRedundancy)
        #expect(heard.left.count { $0 != 0 } > 750 * 960)
    }

    @Test(arguments: networks, [Sides.left, .right])
    private func `what is said on one side is never heard on the other`(_ network: RoughNetwork, _ side: Sides) {
        let heard = network.carry(side, hasRedundancy: true)
        let (said, other) = side == .left ? (heard.left, heard.right) : (heard.right, heard.left)
        let isSilent = other.allSatisfy { $0 == 0 }
        #expect(isSilent && said.count { $0 != 0 } > 750 * 960)
    }

    @Test func `different sounds stay apart, and nothing clicks`() {
        let heard = RoughNetwork(seed: 5, loss: 0, jitter: 0, drift: 900, detour: 0).carry(.different, packets: 2_500)
        #expect(heard.statistics.shortened > 1_000)
        for start in stride(from: 4_800, to: heard.left.count - 48_000, by: 48_000) {
            let left = Array(heard.left[start..<(start + 2_400)]), right = Array(heard.right[start..<(start + 2_400)])
            #expect(share(of: 440, in: left) > 0.95 && share(of: 660, in: left) < 0.05)
            #expect(share(of: 660, in: right) > 0.95 && share(of: 440, in: right) < 0.05)
        }
        let spoken = heard.right.drop { $0 == 0 }
        let steps = zip(spoken, spoken.dropFirst()).map { abs(Int($1) - Int($0)) }
        #expect(steps.max() ?? 0 < 1_400, "a sine of 660 Hz moves by 691 at most")
    }

    @Test(arguments: networks)
    private func `two equal channels are played as one is`(_ network: RoughNetwork) {
        let both = network.carry(.same, hasRedundancy: true)
        let one = network.carry(.same, channels: 1, hasRedundancy: true)
        #expect(both.statistics == one.statistics)
        let isSame = both.left == one.left && both.right == one.left
        #expect(isSame)
    }
}
