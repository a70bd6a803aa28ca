/// Whether the queues on the way to a receiver grow: the over-use detector of draft-ietf-rmcat-gcc-02 §5.2 … §5.4.
///
///     sent       |||      |||      |||          groups of packets, sent within 5 ms
///     received    |||       |||       |||       each a little later than the one before: a queue grows
///
/// Deviation: the trend of the delay is the slope of a line through the newest 20 sums of its variations (least squares),
/// as libwebrtc has it, in place of the Kalman filter of §5.3. Threshold and its adaptation are those of §5.4 with
/// libwebrtc's gains.
package struct DelayTrend: Equatable, Sendable {
    package enum Signal: Equatable, Sendable {
        case normal
        /// A queue grows.
        case overuse
        /// A queue gets shorter.
        case underuse
    }

    /// Groups that the line is laid through.
    private static let window = 20
    /// Of the sum of variations against its smoothed value.
    private static let smoothing = 0.9
    private static let gain = 4.0
    /// A slope counts with the number of groups it is known from, up to this.
    private static let maximumWeight = 60
    /// Milliseconds of over-use before it is believed.
    private static let overuseTime = 10.0
    /// How fast the threshold follows what is above it, and what is below it, per millisecond.
    private static let (rise, fall) = (0.0087, 0.039)
    private static let thresholds = 6.0...600.0
    /// So far above the threshold lies what the threshold does not follow: a change of route.
    private static let outlier = 15.0

    /// What the groups of packets so far say.
    package private(set) var signal = Signal.normal
    private var sum = 0.0
    private var smoothed = 0.0
    /// Milliseconds of arrival and smoothed sums; rings, the oldest at `place` once they are full.
    private var times: [Double] = []
    private var sums: [Double] = []
    private var place = 0
    private var groups = 0
    private var threshold = 12.5
    private var lastUpdate: Double?
    private var overusedFor: Double?
    private var overusedGroups = 0
    private var trendBefore = 0.0

    package init() {}

    /// Another group has come.
    ///
    /// - Parameters:
    ///   - variation: How much longer it took than the group before it, in milliseconds.
    ///   - sendInterval: Between this group and the one before it when they were sent, in milliseconds.
    ///   - arrival: When it came, in milliseconds on any clock.
    package mutating func groupReceived(variation: Double, sendInterval: Double, arrival: Double) {
        groups += 1
        sum += variation
        smoothed = Self.smoothing * smoothed + (1 - Self.smoothing) * sum
        note(arrival)
        let trend = times.count == Self.window ? slope : trendBefore
        detect(trend, sendInterval: sendInterval, at: arrival)
        trendBefore = trend
    }

    private mutating func note(_ arrival: Double) {
        if times.count < Self.window {
            if times.isEmpty {
                times.reserveCapacity(Self.window)
                sums.reserveCapacity(Self.window)
            }
            times.append(arrival)
            sums.append(smoothed)
        } else {
            times[place] = arrival
            sums[place] = smoothed
            place = place + 1 == Self.window ? 0 : place + 1
        }
    }

    /// Milliseconds of delay per millisecond.
    private var slope: Double {
        let count = Double(times.count)
        let (meanTime, meanSum) = (times.reduce(0, +) / count, sums.reduce(0, +) / count)
        var (numerator, denominator) = (0.0, 0.0)
        for index in times.indices {
            numerator += (times[index] - meanTime) * (sums[index] - meanSum)
            denominator += (times[index] - meanTime) * (times[index] - meanTime)
        }
        return denominator == 0 ? trendBefore : numerator / denominator
    }

    private mutating func detect(_ trend: Double, sendInterval: Double, at now: Double) {
        guard groups > 1 else { return }
        let weighted = Double(min(groups, Self.maximumWeight)) * trend * Self.gain
        if weighted > threshold {
            // The first group may have begun anywhere in the interval.
            overusedFor = overusedFor.map { $0 + sendInterval } ?? sendInterval / 2
            overusedGroups += 1
            if overusedFor ?? 0 > Self.overuseTime, overusedGroups > 1, trend >= trendBefore {
                (overusedFor, overusedGroups) = (0, 0)
                signal = .overuse
            }
        } else {
            (overusedFor, overusedGroups) = (nil, 0)
            signal = weighted < -threshold ? .underuse : .normal
        }
        adapt(to: abs(weighted), at: now)
    }

    private mutating func adapt(to weighted: Double, at now: Double) {
        defer { lastUpdate = now }
        guard weighted <= threshold + Self.outlier else { return }
        let elapsed = min(100, max(0, now - (lastUpdate ?? now)))
        threshold += (weighted < threshold ? Self.fall : Self.rise) * (weighted - threshold) * elapsed
        threshold = min(max(threshold, Self.thresholds.lowerBound), Self.thresholds.upperBound)
    }
}
