/// How many samples of 48 kHz go into each packet to a peer.
package enum PacketLength {
    /// What a packet of Opus can hold: 2.5 to 120 ms (RFC 6716 §3.2.5; RFC 7587 §7 counts 2.5 ms as 3).
    package static let opus = [120, 240, 480, 960, 1_920, 2_880, 3_840, 4_800, 5_760]
    /// For codecs that code sample by sample: 5 ms, and whole tens of milliseconds up to as many as Opus can hold.
    package static let sampled = [240] + (1...12).map { 480 * $0 }
    /// 20 ms for a peer that does not say (RFC 3551 §4.2). Else the most that is allowed and not more than the peer wants or takes; the least there is for a peer that takes even less.
    ///
    /// - Parameters:
    ///   - preferred: `a=ptime` in microseconds.
    ///   - maximum: `a=maxptime` in microseconds.
    ///   - allowed: ascending.
    package static func samples(preferred: Int?, maximum: Int?, allowed: [Int]) -> Int {
        let wanted = min(preferred ?? 20_000, maximum ?? .max) * 6 / 125
        return allowed.last { $0 <= wanted } ?? allowed[0]
    }
}
