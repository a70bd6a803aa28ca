/// The bit rate that has arrived recently, over about half a second: R_hat of draft-ietf-rmcat-gcc-02 §5.5.
struct ArrivalRate: Equatable, Sendable {
    /// Eight buckets of 64 ms, which is 256 ticks of 250 µs; the newest one is not full yet.
    private static let bucketBits: Int64 = 8
    private static let bucketCount: Int64 = 8
    private static let ticksPerSecond = 4_000.0

    private var octets: [Int] = []
    private var first: Int64?
    private var newest: Int64 = 0

    /// Counts bytes that arrived, at a time in ticks of 250 µs on the receiver's clock.
    mutating func received(octets count: Int, at arrival: Int64) {
        let bucket = arrival >> Self.bucketBits
        if octets.isEmpty { octets = [Int](repeating: 0, count: Int(Self.bucketCount)) }
        if first == nil { (first, newest) = (bucket, bucket) }
        guard bucket > newest - Self.bucketCount else { return }
        if bucket > newest {
            for skipped in max(newest + 1, bucket - Self.bucketCount + 1)...bucket { octets[Self.place(skipped)] = 0 }
            newest = bucket
        }
        octets[Self.place(bucket)] += count
    }

    /// Bits per second; `nil` until the time of all buckets has passed.
    var bitsPerSecond: Double? {
        guard let first, newest - first >= Self.bucketCount else { return nil }
        let full = octets.reduce(0, +) - octets[Self.place(newest)]
        return Double(8 * full) * Self.ticksPerSecond / Double((Self.bucketCount - 1) << Self.bucketBits)
    }

    private static func place(_ bucket: Int64) -> Int { Int(bucket & (bucketCount - 1)) }
}
