/// Estimates how long audio has to be held back so that nearly every packet arrives before it is played.
///
/// The delay of a packet is its time of arrival minus the time of its first sample; only differences of delays have a
/// meaning. The least delay of the last seconds is the path's own delay. A histogram with exponential forgetting has
/// what packets need in addition.
///
/// A path can become slower for good, and a sender's clock can stand still for a while. What was measured before then
/// has no meaning any more: every packet is slower than can be held back, and comes too late for its place.
package struct DelayEstimator: Sendable {
    /// The share of packets to be in time, and the bounds of the delay.
    package struct Configuration: Equatable, Sendable {
        /// The share of packets that should be in time, 0…1.
        package var share = 0.97
        /// The least delay in addition to the path's own delay.
        package var minimum = Duration.milliseconds(20)
        /// The greatest delay in addition to the path's own delay.
        package var maximum = Duration.milliseconds(200)

        /// Makes the default: 97 % of the packets in time, 20 to 200 ms.
        package init() {}
    }

    /// A margin on top of the delay, in milliseconds, so that the playout may lead a little before audio is missing.
    private static let margin = 10
    /// Width of a bin, in milliseconds.
    private static let binWidth = 5
    private static let binCount = 60
    /// The factor by which the histogram forgets with each packet: a packet counts half after about two hundred others.
    private static let memory = 0.9965
    /// The path's own delay is the least of the current and the previous span of so many packets.
    private static let spanLength = 250
    /// So many packets in a row that are slower than the greatest delay show that the path itself has become slower. In
    /// a burst after a stall of the path each is faster than the one before.
    private static let slowRow = 50
    /// A packet that is sooner than those before it by more than this belongs to a burst after a stall: 5 ms, in
    /// samples of 48 kHz.
    private static let burstStep: Int64 = 240

    private let configuration: Configuration
    private var bins = [Double](repeating: 0, count: binCount)
    private var least: (current: Int64, previous: Int64)?
    private var countInSpan = 0
    /// The packets in a row, up to the newest one, that were slower than the greatest delay: their number, and the
    /// least of their delays; `nil` if the newest one was not.
    private var slow: (count: Int, least: Int64)?

    /// Starts without a measurement.
    package init(_ configuration: Configuration = Configuration()) { self.configuration = configuration }

    /// The path's own delay, in samples of 48 kHz; `nil` before the first packet. Its zero is arbitrary.
    package var base: Int64? { least.map { min($0.current, $0.previous) } }

    /// Takes the delay of a packet.
    ///
    /// - Parameter delay: The time of arrival minus the time of the packet's first sample, in samples of 48 kHz.
    /// - Returns: Whether the path has become slower for good. The measurement starts anew then, and what was held back
    ///   by the former one has no place in the new one.
    @discardableResult
    package mutating func packetReceived(delay: Int64) -> Bool {
        let isNew = restarts(with: delay)
        countInSpan += 1
        if countInSpan > Self.spanLength {
            countInSpan = 1
            least = (delay, least?.current ?? delay)
        } else {
            least = least.map { (min($0.current, delay), $0.previous) } ?? (delay, delay)
        }
        let excess = Int((delay - (base ?? delay)) / 48) / Self.binWidth
        let bin = min(max(excess, 0), Self.binCount - 1)
        for index in bins.indices { bins[index] *= Self.memory }
        bins[bin] += 1 - Self.memory
        return isNew
    }

    /// Counts slow packets in a row, and forgets the measurement when there are too many.
    private mutating func restarts(with delay: Int64) -> Bool {
        guard let base, delay - base > configuration.maximum.inSamples else {
            slow = nil
            return false
        }
        // Packets of a burst come one after the other and are sooner each time; those of a slower path are not.
        let isCatchingUp = slow.map { delay < $0.least - Self.burstStep } ?? false
        let (count, least) = (isCatchingUp ? 1 : (slow?.count ?? 0) + 1, min(slow?.least ?? delay, delay))
        guard count >= Self.slowRow else {
            slow = (count, least)
            return false
        }
        slow = nil
        self.least = (least, least)
        countInSpan = 0
        for index in bins.indices { bins[index] = 0 }
        return true
    }

    /// The delay to hold back in addition to `base`, in samples of 48 kHz.
    ///
    /// - Parameter packet: The length of one packet in samples, which the buffer has to hold in any case.
    package func target(packet: Int) -> Int64 {
        let total = bins.reduce(0, +)
        var (sum, bin) = (0.0, 0)
        while bin < Self.binCount - 1 {
            sum += bins[bin]
            if sum >= total * configuration.share { break }
            bin += 1
        }
        let milliseconds = bin * Self.binWidth + packet / 48 + Self.margin
        return min(max(Int64(milliseconds) * 48, configuration.minimum.inSamples), configuration.maximum.inSamples)
    }
}
