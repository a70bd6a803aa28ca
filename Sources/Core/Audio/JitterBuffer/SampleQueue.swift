/// Decoded samples that wait to be played, in memory that is allocated once. They can be shortened or lengthened
/// without a click.
///
/// Everything is counted in samples per channel. Two channels are interleaved, left first, and stay in step.
package struct SampleQueue: ~Copyable {
    /// The capacity for decoded audio: room for the longest packet, 120 ms, in addition to what waits.
    package static let playoutCapacity = 4 * 5_760
    /// The lags that stretching examines, in samples: pitch periods of 67 to 400 Hz.
    private static let lags = 120...720
    /// The length of a cross-fade, in samples.
    private static let overlap = 240
    /// The correlation uses every fourth sample, which is enough to find the pitch.
    private static let stride = 4

    /// The number of channels, 1 or 2.
    package let channels: Int
    private let capacity: Int
    private var samples: [Int16]
    private var start = 0
    /// Samples per channel that wait.
    package private(set) var count = 0

    /// Makes an empty queue.
    ///
    /// - Parameters:
    ///   - capacity: The most samples per channel that wait; 480 ms unless given.
    ///   - channels: 1 or 2.
    package init(capacity: Int = playoutCapacity, channels: Int = 1) {
        self.capacity = capacity
        self.channels = channels
        samples = [Int16](repeating: 0, count: capacity * channels)
    }

    /// Room at the end for `size` samples per channel, which must fit the capacity. `commit` tells how many were
    /// written.
    @_lifetime(&self)
    package mutating func room(for size: Int) -> MutableSpan<Int16> {
        if start + count + size > capacity { compact() }
        precondition(start + count + size <= capacity, "what waits is played before more is decoded")
        return samples.mutableSpan._consumingExtracting(
            ((start + count) * channels)..<((start + count + size) * channels))
    }

    /// Appends `size` samples per channel of silence.
    package mutating func appendSilence(_ size: Int) {
        var room = room(for: size)
        for index in room.indices { room[index] = 0 }
        commit(size)
    }

    /// Adds the first `written` samples per channel of `room` to the queue.
    package mutating func commit(_ written: Int) { count += written }

    /// Moves the first samples to `frame`, all of which must be available.
    package mutating func take(into frame: inout MutableSpan<Int16>) {
        precondition(frame.count <= count * channels, "no more is taken than waits")
        for index in frame.indices { frame[index] = samples[start * channels + index] }
        start += frame.count / channels
        count -= frame.count / channels
    }

    /// The first `size` samples per channel, all of which must be available.
    @_lifetime(borrow self)
    package func first(_ size: Int) -> Span<Int16> {
        samples.span.extracting((start * channels)..<((start + size) * channels))
    }

    /// Removes the first `size` samples per channel, all of which must be available.
    package mutating func removeFirst(_ size: Int) {
        precondition(size <= count, "no more is taken than waits")
        start += size
        count -= size
    }

    /// Empties the queue.
    package mutating func removeAll() {
        start = 0
        count = 0
    }

    // MARK: Stretching

    /// Removes one pitch period near the end. Returns its length in samples, or 0 if too few samples wait.
    package mutating func shorten() -> Int {
        guard let lag = bestLag() else { return 0 }
        let first = start + count - Self.overlap - lag
        for index in 0..<Self.overlap { blend(into: first + index, from: first + lag + index, index) }
        count -= lag
        return lag
    }

    /// Repeats one pitch period near the end. Returns its length in samples, or 0 if too few samples wait or fit.
    package mutating func lengthen() -> Int {
        guard let lag = bestLag() else { return 0 }
        if start + count + lag > capacity { compact() }
        guard start + count + lag <= capacity else { return 0 }
        // … A B  becomes  … A (B fading into A) B: after B, the period before it is repeated.
        let end = start + count
        let (earlier, later) = (end - Self.overlap - lag, end - Self.overlap)
        copy(Self.overlap, from: later, to: later + lag)
        copy(max(0, lag - Self.overlap), from: earlier + Self.overlap, to: later + Self.overlap)
        for index in 0..<min(Self.overlap, lag) { blend(into: later + index, from: earlier + index, index) }
        count += lag
        return lag
    }

    /// Copies samples to a later place; both places may overlap.
    private mutating func copy(_ size: Int, from source: Int, to target: Int) {
        for index in (0..<(size * channels)).reversed() {
            samples[target * channels + index] = samples[source * channels + index]
        }
    }

    /// Cross-fades every channel of one sample to another sample, at one of `overlap` steps.
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

    /// The lag with the greatest correlation between the end and the audio before it; `nil` if too few samples wait.
    /// The correlations of both channels are added up to one lag, so that the channels stay in step.
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
