/// Decoded samples that wait to be played, with memory that is taken once; can be made shorter or longer without a click.
package struct SampleQueue: ~Copyable {
    /// Of decoded audio: room for the longest packet, 120 ms, on top of what waits.
    package static let playoutCapacity = 4 * 5_760
    /// Lags that stretching looks at: pitch periods of 67 to 400 Hz.
    private static let lags = 120...720
    /// Over so many samples one piece turns into the other.
    private static let overlap = 240
    /// Every so many samples are compared, which is enough to find a pitch.
    private static let stride = 4

    private let capacity: Int
    private var samples: [Int16]
    private var start = 0
    package private(set) var count = 0

    package init(capacity: Int = playoutCapacity) {
        self.capacity = capacity
        samples = [Int16](repeating: 0, count: capacity)
    }

    /// Room at the end for `size` samples; `commit` says how many were written.
    @_lifetime(&self)
    package mutating func room(for size: Int) -> MutableSpan<Int16> {
        if start + count + size > capacity { compact() }
        precondition(start + count + size <= capacity, "what waits is played before more is decoded")
        return samples.mutableSpan._consumingExtracting((start + count)..<(start + count + size))
    }

    package mutating func appendSilence(_ size: Int) {
        var room = room(for: size)
        for index in room.indices { room[index] = 0 }
        commit(size)
    }

    package mutating func commit(_ written: Int) { count += written }

    /// Moves the first samples out; there are as many.
    package mutating func take(into frame: inout MutableSpan<Int16>) {
        precondition(frame.count <= count, "no more is taken than waits")
        for index in frame.indices { frame[index] = samples[start + index] }
        start += frame.count
        count -= frame.count
    }

    /// The first samples, of which there are as many.
    @_lifetime(borrow self)
    package func first(_ size: Int) -> Span<Int16> { samples.span.extracting(start..<(start + size)) }

    package mutating func removeFirst(_ size: Int) {
        precondition(size <= count, "no more is taken than waits")
        start += size
        count -= size
    }

    package mutating func removeAll() {
        start = 0
        count = 0
    }

    /// Leaves out one pitch period near the end; returns how many samples that was, 0 if too few wait.
    package mutating func shorten() -> Int {
        guard let lag = bestLag() else { return 0 }
        let end = start + count
        let first = end - Self.overlap - lag
        for index in 0..<Self.overlap { samples[first + index] = mix(samples[first + index], samples[first + lag + index], index) }
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
        for index in (0..<Self.overlap).reversed() { samples[later + lag + index] = samples[later + index] }
        for index in (0..<max(0, lag - Self.overlap)).reversed() {
            samples[later + Self.overlap + index] = samples[earlier + Self.overlap + index]
        }
        for index in 0..<min(Self.overlap, lag) {
            samples[later + index] = mix(samples[later + index], samples[earlier + index], index)
        }
        count += lag
        return lag
    }

    private func mix(_ a: Int16, _ b: Int16, _ step: Int) -> Int16 {
        let weight = Int32(step)
        return Int16((Int32(a) * (Int32(Self.overlap) - weight) + Int32(b) * weight) / Int32(Self.overlap))
    }

    /// The lag at which the end is most like what came before it.
    private func bestLag() -> Int? {
        guard count >= Self.lags.upperBound + Self.overlap else { return nil }
        let end = start + count
        let reference = end - Self.overlap
        var (best, bestLag) = (-Double.infinity, Self.lags.lowerBound)
        for lag in Swift.stride(from: Self.lags.lowerBound, through: Self.lags.upperBound, by: Self.stride) {
            var (product, energy) = (Int64(0), Int64(1))
            for index in Swift.stride(from: 0, to: Self.overlap, by: Self.stride) {
                let (a, b) = (Int64(samples[reference + index]), Int64(samples[reference - lag + index]))
                product += a * b
                energy += b * b
            }
            let likeness = Double(product) / Double(energy).squareRoot()
            if likeness > best { (best, bestLag) = (likeness, lag) }
        }
        return bestLag
    }

    private mutating func compact() {
        for index in 0..<count { samples[index] = samples[start + index] }
        start = 0
    }
}
