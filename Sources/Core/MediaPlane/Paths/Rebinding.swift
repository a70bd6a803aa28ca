import Primitives

/// When a peer that sends no checks is followed to another address: its NAT has given it another port, and nothing says
/// so but its packets.
///
/// A packet that the peer's keys protect shows that the peer has sent it, not that it has sent it from there: somebody
/// on the path may have caught it and been faster. The peer's own then still comes over the path where the peer was. So
/// the address is followed only while nothing at all comes from there, and left again when something does before a
/// report has answered one of ours.
///
///     checked path     ──packets──▶ │ silence: 250 ms         1 s
///     another address               │          ├─ packets are tried ─▶ the third one, or a later one, is followed
struct Rebinding: Equatable, Sendable {
    /// Until a packet from an unchecked address is worth a try: longer than between two packets of a talk.
    static let pause = Duration.milliseconds(250)
    /// How long nothing may have come over the checked paths.
    static let silence = Duration.seconds(1)
    /// Packets that have to come from there, with none from elsewhere between them.
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
    /// - Parameter lastArrival: when something came over a checked path, also what had come before.
    static func isWorthATry(lastArrival: MonotonicTime, at now: MonotonicTime) -> Bool { lastArrival + pause <= now }

    /// A packet from an unchecked address has been authenticated, and had not come before.
    ///
    /// - Returns: how many bytes have come from there, once the address is to be followed.
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
