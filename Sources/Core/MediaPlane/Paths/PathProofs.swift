import Primitives

/// Where one leg's media is sent, and how much of it: an address that may be forged gets only a little.
///
/// A check shows that its sender knows the gateway's password, not that its source address is genuine. A packet that
/// the leg's keys authenticate proves its path. Media stays on a proven path until the peer's new one is proven. A path
/// without proof gets at most `amplificationFactor` times the bytes that came over it, as in QUIC (RFC 9000 §8.1 and
/// §9.3). Responses to checks are no longer than the checks and are not counted. A TCP connection needs no further
/// proof.
///
/// A peer that sends no checks is followed to the address of its packets (`Rebinding`). That path stays unproven until
/// a check comes over it, or a report that answers one of the gateway's.
struct PathProofs: Sendable {
    /// A validated path without proof.
    private struct Trial: Sendable {
        let path: Path
        /// Bytes of datagrams without IP and UDP headers.
        var received = 0
        var sent = 0
    }

    /// The factor of RFC 9000 §8.1.
    static let amplificationFactor = 3

    /// The path to send over; `nil` before the first valid check, and while the peer has no path.
    private(set) var destination: Path?
    /// The proven paths, the one proven last at the end.
    private var proven: [Path] = []
    private var trials: [Trial] = []
    /// A path that was taken because of protected packets alone. They prove nothing, since an attacker may have
    /// captured them elsewhere.
    private var unanswered: Path?

    func isUnanswered(_ path: Path) -> Bool { unanswered == path }

    func isProven(_ path: Path) -> Bool { path.connection != nil || proven.contains(path) }

    var isOnTrial: Bool { destination.map { !isProven($0) } ?? false }

    /// A valid check or a handshake record came over the path.
    mutating func received(_ bytes: Int, over path: Path) {
        guard !isProven(path) else { return }
        if let index = trials.firstIndex(where: { $0.path == path }) {
            trials[index].received += bytes
        } else {
            trials.append(Trial(path: path, received: bytes))
        }
    }

    /// The peer has been followed to `path`, from which `bytes` bytes have come.
    mutating func rebind(to path: Path, received bytes: Int) {
        unanswered = path
        received(bytes, over: path)
    }

    mutating func prove(_ path: Path) {
        if unanswered == path { unanswered = nil }
        trials.removeAll { $0.path == path }
        proven.removeAll { $0 == path }
        proven.append(path)
    }

    mutating func forget(_ path: Path) {
        trials.removeAll { $0.path == path }
        proven.removeAll { $0 == path }
        if destination == path { destination = nil }
        if unanswered == path { unanswered = nil }
    }

    /// Sets the destination to the path that ICE has selected, once it is proven or the peer has been followed to it.
    /// Before that, only if there is no proven path.
    mutating func follow(_ selected: Path?) {
        guard let selected, !isProven(selected), !isUnanswered(selected) else {
            destination = selected
            return
        }
        if let destination, isProven(destination) { return }
        destination = proven.last ?? selected
    }

    /// Whether `bytes` bytes may be sent over the path. If so, they count as sent.
    mutating func spend(_ bytes: Int, over path: Path) -> Bool {
        guard !isProven(path) else { return true }
        guard let index = trials.firstIndex(where: { $0.path == path }) else { return false }
        guard trials[index].sent + bytes <= Self.amplificationFactor * trials[index].received else { return false }
        trials[index].sent += bytes
        return true
    }
}
