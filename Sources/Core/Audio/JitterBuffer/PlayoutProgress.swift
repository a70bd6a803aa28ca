import Primitives

/// How far a stream has been decoded, and how much was concealed while no packet waited.
///
/// While no packet waits it is unknown whether the next one is lost or late. Audio that is concealed then is owed, and
/// the next packet shows whether it replaced lost audio.
struct PlayoutProgress: Sendable {
    /// Comfort noise that plays until audio comes.
    struct Noise: Sendable {
        var sound: ComfortNoise
        /// The position at which it started.
        var start: Int64
    }

    /// The playout waits for redundancy as long as this after redundancy came too late for a loss, in samples: ten
    /// seconds.
    private static let redundancyMemory: Int64 = 480_000

    /// The position of the next sample to be decoded; `nil` before the stream is played.
    private(set) var position: Int64?
    /// Samples that were concealed while no packet waited.
    private(set) var owed: Int64 = 0
    /// The length of the last packet that was decoded, in samples.
    private(set) var packetLength = 960
    private(set) var noise: Noise?
    /// The sequence number of the last packet that was removed from the buffer.
    private var lastNumber: SequenceNumber?
    /// One more packet is held back up to this position, so that redundancy for a lost packet arrives in time.
    private var redundancyEnd = Int64.min

    /// Packets before this position are late. Comfort noise replaces no audio, so packets that come while it plays are
    /// not late.
    var played: Int64 { noise?.start ?? position ?? .min }
    /// Whether one more packet is held back for its redundancy.
    var awaitsRedundancy: Bool { position ?? .min < redundancyEnd }
    /// Whether redundancy in the next packet comes too late, or would do so without `awaitsRedundancy`.
    var missesRedundancy: Bool { owed > 0 || awaitsRedundancy }

    /// Whether no packet was lost between the last one and this one: the gap in the timestamps is a pause of the peer.
    func isPause(before next: JitterBuffer.Packet) -> Bool { lastNumber.map { next.number == $0 + 1 } ?? false }

    // MARK: Progress

    /// The first packet of the stream waits to be played.
    mutating func expect(_ first: JitterBuffer.Packet) { packetLength = first.sampleCount }

    /// The stream is played from `position` on, and no samples are owed.
    mutating func jump(to position: Int64) {
        self.position = position
        owed = 0
    }

    /// `count` samples have been made in place of missing ones.
    mutating func advance(by count: Int64) { position = (position ?? 0) + count }

    /// A packet was removed from the buffer, and its samples come next.
    mutating func took(_ packet: JitterBuffer.Packet) { lastNumber = packet.number }

    /// The packet was decoded to `count` samples.
    mutating func decoded(_ packet: JitterBuffer.Packet, to count: Int) {
        packetLength = count
        position = packet.position + Int64(count)
    }

    /// The packet could not be decoded, and `count` samples were concealed in its place.
    mutating func replaced(_ packet: JitterBuffer.Packet, by count: Int64) { position = packet.position + count }

    mutating func started(_ sound: ComfortNoise) { noise = Noise(sound: sound, start: noise?.start ?? position ?? 0) }
    mutating func endNoise() { noise = nil }

    // MARK: Concealed audio

    mutating func addOwed(_ count: Int64) { owed += count }

    /// The packet that was due has come: it was late and not lost. The playout lags by that much from now on.
    mutating func clearOwed() { owed = 0 }

    /// `missing` samples are missing before the next packet, and samples that are owed replace them. Returns whether
    /// any were owed.
    mutating func settle(missing: Int64) -> Bool {
        guard owed > 0 else { return false }
        let settled = min(owed, missing)
        owed -= settled
        advance(by: settled)
        return true
    }

    /// Redundancy came too late to be used.
    mutating func redundancyMissed() { redundancyEnd = (position ?? 0) + Self.redundancyMemory }

    /// Forgets the stream. The length of its packets is kept until the next stream shows another one.
    mutating func restart() {
        let length = packetLength
        self = PlayoutProgress()
        packetLength = length
    }
}
