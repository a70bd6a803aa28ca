import Primitives

/// Decides when a peer that sends no checks is followed to another address. Its NAT has given it another port, and only
/// its packets show that.
///
/// A packet protected by the peer's keys shows that the peer has sent it, but not from which address. An attacker on
/// the path may have captured it and been faster. The peer's own packet then still comes over the former path. So the
/// address is followed only while nothing at all comes over the former path. It is left again if something comes over
/// that path before a report has answered one of the gateway's.
///
///     checked path     ──packets──▶ │ silence: 250 ms         1 s
///     another address               │          ├─ packets are tried ─▶ the third one, or a later one, is followed
struct Rebinding: Equatable, Sendable {
    /// The silence after which a packet from an unchecked address is tried. It is longer than the gap between two
    /// packets of a talk spurt.
    static let pause = Duration.milliseconds(250)
    /// The silence on the checked paths after which the address is followed.
    static let silence = Duration.seconds(1)
    /// The number of packets that have to come from the address, without one from elsewhere in between.
    static let packetCount = 3

    private struct Trial: Equatable {
        let path: Path
        let start: MonotonicTime
        var packets = 0
        var bytes = 0
    }

    private var trial: Trial?

    init() {}

    /// Whether a packet from an unchecked address is to be tried with the peer's keys.
    ///
    /// - Parameters:
    ///   - lastArrival: The time at which the last packet, new or repeated, came over a checked path.
    ///   - now: The time of arrival.
    static func isWorthATry(lastArrival: MonotonicTime, at now: MonotonicTime) -> Bool { lastArrival + pause <= now }

    /// Takes note of an authenticated packet from an unchecked address that is no repetition.
    ///
    /// - Returns: The bytes that have come from there, once the address is to be followed; `nil` before.
    mutating func heard(_ bytes: Int, over path: Path, lastArrival: MonotonicTime, at now: MonotonicTime) -> Int? {
        var trial =
            self.trial.flatMap { $0.path == path && $0.start > lastArrival ? $0 : nil } ?? Trial(path: path, start: now)
        trial.packets += 1
        trial.bytes += bytes
        self.trial = trial
        guard trial.packets >= Self.packetCount, lastArrival + Self.silence <= now else { return nil }
        self.trial = nil
        return trial.bytes
    }
}
