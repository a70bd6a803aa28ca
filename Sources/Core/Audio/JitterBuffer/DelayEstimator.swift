/// How long audio has to be held back so that nearly every packet is there when its time comes.
///
/// A packet's delay is when it came minus when its audio begins; only differences mean anything. The least of the last
/// seconds is the path's own delay; what packets need beyond it is kept in a histogram that forgets.
package struct DelayEstimator: Sendable {
    package struct Configuration: Equatable, Sendable {
        /// Of all packets so many are to be in time.
        package var share = 0.97
        /// Bounds of what is added to the path's own delay, in milliseconds.
        package var minimum = 20
        package var maximum = 200

        package init() {}
    }

    /// On top of it, in milliseconds: room to be a little ahead before anything is missing.
    private static let margin = 10
    /// Milliseconds in one bin.
    private static let binWidth = 5
    private static let binCount = 60
    /// How fast the histogram forgets: a packet counts half after some two hundred others.
    private static let memory = 0.9965
    /// The least delay is that of the last one to two spans of so many packets.
    private static let spanLength = 250

    private let configuration: Configuration
    private var bins = [Double](repeating: 0, count: binCount)
    private var least: (current: Int64, previous: Int64)?
    private var countInSpan = 0

    package init(_ configuration: Configuration = Configuration()) { self.configuration = configuration }

    /// The path's own delay, in samples.
    package var base: Int64? { least.map { min($0.current, $0.previous) } }

    /// - Parameter delay: in samples of 48 kHz.
    package mutating func packetReceived(delay: Int64) {
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
    }

    /// What is to be added to `base`, in samples; `packet` is the duration of one packet, which the buffer has to hold anyway.
    package func target(packet: Int) -> Int64 {
        let total = bins.reduce(0, +)
        var (sum, bin) = (0.0, 0)
        while bin < Self.binCount - 1 {
            sum += bins[bin]
            if sum >= total * configuration.share { break }
            bin += 1
        }
        let milliseconds = bin * Self.binWidth + packet / 48 + Self.margin
        return Int64(min(max(milliseconds, configuration.minimum), configuration.maximum)) * 48
    }
}
