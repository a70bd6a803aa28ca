/// Detects whether the queues on the path to a receiver grow: the over-use detector of draft-ietf-rmcat-gcc-02 §5.2 …
/// §5.4.
///
///     sent       |||      |||      |||          groups of packets, sent within 5 ms
///     received    |||       |||       |||       each a little later than the one before: a queue grows
///
/// Deviation: the trend of the delay is the slope of a least-squares line through the newest 20 sums of its variations,
/// as in libwebrtc, instead of the Kalman filter of §5.3. The threshold and its adaptation are those of §5.4 with the
/// gains of libwebrtc.
package struct DelayTrend: Equatable, Sendable {
    /// The state of the queues.
    package enum Signal: Equatable, Sendable {
        /// The queues are stable.
        case normal
        /// A queue grows.
        case overuse
        /// A queue drains.
        case underuse
    }

    /// The number of groups for the least-squares line.
    private static let window = 20
    /// The weight of the smoothed sum of variations against a new one.
    private static let smoothing = 0.9
    private static let gain = 4.0
    /// The slope is weighted by the number of groups it is based on, up to this number.
    private static let maximumWeight = 60
    /// Milliseconds of over-use before it is reported.
    private static let overuseTime = 10.0
    /// Gains of the threshold per millisecond, for values above it and for values below it.
    private static let (rise, fall) = (0.0087, 0.039)
    private static let thresholds = 6.0...600.0
    /// The threshold does not follow values that exceed it by more than this, which are caused by a change of route.
    private static let outlier = 15.0

    /// The state after the groups of packets received so far.
    package private(set) var signal = Signal.normal
    private var sum = 0.0
    private var smoothed = 0.0
    /// Arrival times in milliseconds, and smoothed sums; rings whose oldest element is at `place` once they are full.
    private var times: [Double] = []
    private var sums: [Double] = []
    private var place = 0
    private var groups = 0
    private var threshold = 12.5
    private var lastUpdate: Double?
    private var overusedFor: Double?
    private var overusedGroups = 0
    private var trendBefore = 0.0

    /// Starts without a group, in the normal state.
    package init() {}

    /// Takes the next group of packets.
    ///
    /// - Parameters:
    ///   - variation: How much longer the group took than the group before it, in milliseconds.
    ///   - sendInterval: The time between the sending of the previous group and of this one, in milliseconds.
    ///   - arrival: The time of arrival, in milliseconds on any clock.
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

    /// The slope in milliseconds of delay per millisecond.
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
            // The over-use may have started anywhere in the interval.
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
