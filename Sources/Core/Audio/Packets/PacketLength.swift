/// The number of samples of 48 kHz in each packet to a peer.
package enum PacketLength {
    /// The lengths of Opus packets: 2.5 to 120 ms (RFC 6716 §3.2.5; RFC 7587 §7 counts 2.5 ms as 3).
    package static let opus = [120, 240, 480, 960, 1_920, 2_880, 3_840, 4_800, 5_760]
    /// The lengths for codecs that encode sample by sample: 5 ms, and multiples of 10 ms up to the longest Opus packet.
    package static let sampled = [240] + (1...12).map { 480 * $0 }
    /// The packet length for a peer: the longest allowed one that exceeds neither what the peer prefers nor what it
    /// accepts, or the shortest allowed one if the peer accepts even less. It is 20 ms for a peer that states nothing
    /// (RFC 3551 §4.2).
    ///
    /// - Parameters:
    ///   - preferred: `a=ptime` in microseconds; `nil` if the peer does not state it.
    ///   - maximum: `a=maxptime` in microseconds; `nil` if the peer does not state it.
    ///   - allowed: The allowed lengths in samples, ascending and not empty.
    package static func samples(preferred: Int?, maximum: Int?, allowed: [Int]) -> Int {
        let wanted = min(preferred ?? 20_000, maximum ?? .max) * 6 / 125
        return allowed.last { $0 <= wanted } ?? allowed[0]
    }
}
