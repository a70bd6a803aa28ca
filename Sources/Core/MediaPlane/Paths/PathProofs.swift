import Primitives

/// Where one leg's media goes, and how much of it: no more than a little to an address that may be forged.
///
/// A check shows that somebody knows our password, not that the source address is the sender's. What a leg's keys have authenticated over a
/// path proves the path. Media stays on a proven path until the peer's new one is proven, and a path without proof gets at most
/// `amplificationFactor` times the bytes that came over it (as QUIC has it, RFC 9000 §8.1 and §9.3). Answers to checks are no longer than
/// the checks, and are not counted. A TCP connection is its own proof.
///
/// A peer without checks is followed to where its packets come from (`Rebinding`). That path stays without proof until
/// a check, or a report that answers one of ours, comes over it.
struct PathProofs: Sendable {
    /// A validated path without proof.
    private struct Trial: Sendable {
        let path: Path
        /// Bytes of datagrams without their IP and UDP headers.
        var received = 0
        var sent = 0
    }

    /// RFC 9000 §8.1.
    static let amplificationFactor = 3

    /// Where to send; `nil` before the first valid check, and while the peer has no path.
    private(set) var destination: Path?
    /// The one proven last at the end.
    private var proven: [Path] = []
    private var trials: [Trial] = []
    /// A path that was taken because of protected packets alone: they may have been caught elsewhere, and prove
    /// nothing.
    private var unanswered: Path?

    func isUnanswered(_ path: Path) -> Bool { unanswered == path }

    func isProven(_ path: Path) -> Bool { path.connection != nil || proven.contains(path) }

    var isOnTrial: Bool { destination.map { !isProven($0) } ?? false }

    /// A valid check or a record of a handshake came over the path.
    mutating func received(_ bytes: Int, over path: Path) {
        guard !isProven(path) else { return }
        if let index = trials.firstIndex(where: { $0.path == path }) {
            trials[index].received += bytes
        } else {
            trials.append(Trial(path: path, received: bytes))
        }
    }

    /// The peer has been followed to `path`, from which so many bytes have come.
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

    /// Follows the path that ICE has selected, once it is proven or the peer has been followed to it; before that only
    /// if there is no proven one.
    mutating func follow(_ selected: Path?) {
        guard let selected, !isProven(selected), !isUnanswered(selected) else {
            destination = selected
            return
        }
        if let destination, isProven(destination) { return }
        destination = proven.last ?? selected
    }

    /// Whether so many bytes may go over the path; they count as sent.
    mutating func spend(_ bytes: Int, over path: Path) -> Bool {
        guard !isProven(path) else { return true }
        guard let index = trials.firstIndex(where: { $0.path == path }) else { return false }
        guard trials[index].sent + bytes <= Self.amplificationFactor * trials[index].received else { return false }
        trials[index].sent += bytes
        return true
    }
}
