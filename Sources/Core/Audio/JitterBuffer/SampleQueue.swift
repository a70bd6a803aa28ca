/// Decoded samples that wait to be played, with memory that is taken once; can be made shorter or longer without a click.
///
/// Everything is counted in samples per channel; those of two channels come by turns, left and right, and stay together whatever
/// happens to them.
package struct SampleQueue: ~Copyable {
    /// Of decoded audio: room for the longest packet, 120 ms, on top of what waits.
    package static let playoutCapacity = 4 * 5_760
    /// Lags that stretching looks at: pitch periods of 67 to 400 Hz.
    private static let lags = 120...720
    /// Over so many samples one piece turns into the other.
    private static let overlap = 240
    /// Every so many samples are compared, which is enough to find a pitch.
    private static let stride = 4

    /// 1 or 2.
    package let channels: Int
    private let capacity: Int
    private var samples: [Int16]
    private var start = 0
    package private(set) var count = 0

    package init(capacity: Int = playoutCapacity, channels: Int = 1) {
        self.capacity = capacity
        self.channels = channels
        samples = [Int16](repeating: 0, count: capacity * channels)
    }

    /// Room at the end for `size` samples; `commit` says how many were written.
    @_lifetime(&self)
    package mutating func room(for size: Int) -> MutableSpan<Int16> {
        if start + count + size > capacity { compact() }
        precondition(start + count + size <= capacity, "what waits is played before more is decoded")
        return samples.mutableSpan._consumingExtracting(
            ((start + count) * channels)..<((start + count + size) * channels))
    }

    package mutating func appendSilence(_ size: Int) {
        var room = room(for: size)
        for index in room.indices { room[index] = 0 }
        commit(size)
    }

    package mutating func commit(_ written: Int) { count += written }

    /// Moves the first samples out; there are as many.
    package mutating func take(into frame: inout MutableSpan<Int16>) {
        precondition(frame.count <= count * channels, "no more is taken than waits")
        for index in frame.indices { frame[index] = samples[start * channels + index] }
        start += frame.count / channels
        count -= frame.count / channels
    }

    /// The first samples, of which there are as many.
    @_lifetime(borrow self)
    package func first(_ size: Int) -> Span<Int16> {
        samples.span.extracting((start * channels)..<((start + size) * channels))
    }

    package mutating func removeFirst(_ size: Int) {
        precondition(size <= count, "no more is taken than waits")
        start += size
        count -= size
    }

    package mutating func removeAll() {
        start = 0
        count = 0
    }

    // MARK: Stretching

    /// Leaves out one pitch period near the end; returns how many samples that was, 0 if too few wait.
    package mutating func shorten() -> Int {
        guard let lag = bestLag() else { return 0 }
        let first = start + count - Self.overlap - lag
        for index in 0..<Self.overlap { blend(into: first + index, from: first + lag + index, index) }
        count -= lag
        return lag
    }

    /// Says one pitch period near the end twice; returns how many samples that added, 0 if too few wait.
    package mutating func lengthen() -> Int {
        guard let lag = bestLag() else { return 0 }
        if start + count + lag > capacity { compact() }
        guard start + count + lag <= capacity else { return 0 }
        // … A B  becomes  … A (B turning into A) B: what follows B is the period before it once more.
        let end = start + count
        let (earlier, later) = (end - Self.overlap - lag, end - Self.overlap)
        copy(Self.overlap, from: later, to: later + lag)
        copy(max(0, lag - Self.overlap), from: earlier + Self.overlap, to: later + Self.overlap)
        for index in 0..<min(Self.overlap, lag) { blend(into: later + index, from: earlier + index, index) }
        count += lag
        return lag
    }

    /// To a later place, which may overlap.
    private mutating func copy(_ size: Int, from source: Int, to target: Int) {
        for index in (0..<(size * channels)).reversed() {
            samples[target * channels + index] = samples[source * channels + index]
        }
    }

    /// Lets every channel of one sample turn into another, by so many of `overlap` steps.
    private mutating func blend(into target: Int, from source: Int, _ step: Int) {
        for channel in 0..<channels {
            let place = target * channels + channel
            samples[place] = mix(samples[place], samples[source * channels + channel], step)
        }
    }

    private func mix(_ a: Int16, _ b: Int16, _ step: Int) -> Int16 {
        let weight = Int32(step)
        return Int16((Int32(a) * (Int32(Self.overlap) - weight) + Int32(b) * weight) / Int32(Self.overlap))
    }

    /// The lag at which the end is most like what came before it: one for both channels, whose likenesses are added up, so that they
    /// stay in step.
    private func bestLag() -> Int? {
        guard count >= Self.lags.upperBound + Self.overlap else { return nil }
        let reference = start + count - Self.overlap
        var (best, bestLag) = (-Double.infinity, Self.lags.lowerBound)
        for lag in Swift.stride(from: Self.lags.lowerBound, through: Self.lags.upperBound, by: Self.stride) {
            var (product, energy) = (Int64(0), Int64(1))
            for index in Swift.stride(from: 0, to: Self.overlap, by: Self.stride) {
                for channel in 0..<channels {
                    let place = (reference + index) * channels + channel
                    let (a, b) = (Int64(samples[place]), Int64(samples[place - lag * channels]))
                    product += a * b
                    energy += b * b
                }
            }
            let likeness = Double(product) / Double(energy).squareRoot()
            if likeness > best { (best, bestLag) = (likeness, lag) }
        }
        return bestLag
    }

    private mutating func compact() {
        for index in 0..<(count * channels) { samples[index] = samples[start * channels + index] }
        start = 0
    }
}
