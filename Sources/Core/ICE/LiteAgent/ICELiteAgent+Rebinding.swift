package import Primitives

/// Peers whose NAT gives them another port, and who send no checks that would say so.
///
/// Deviation: RFC 8445 knows no way but checks to a pair. Some peers send none while media flows, and would never be
/// heard again.
extension ICELiteAgent {
    /// Whether a peer may be followed to `path` by its packets alone: over UDP, to the same socket, and only if it has
    /// sent no checks for as long as one that does would send some. One that sends checks is followed by them.
    package func mayRebind(to path: Path, at now: MonotonicTime) -> Bool {
        guard let selectedPath, selectedPath.connection == nil, path.connection == nil, path.local == selectedPath.local
        else { return false }
        guard !paths.contains(path) else { return false }
        guard let newestCheck = paths.newestCheck else { return true }
        return newestCheck + configuration.silenceTimeout <= now
    }

    /// The peer is taken to be at `path`, which counts as one of its paths from now on, and is sent over. Nothing
    /// follows if `mayRebind` says no.
    package mutating func rebind(to path: Path, at now: MonotonicTime) -> [ICEAction] {
        guard mayRebind(to: path, at: now), let sender = (progress.previous ?? credentials).remote?.ufrag else {
            return []
        }
        let actions: [ICEAction] =
            switch paths.follow(to: path, by: sender, at: now, sparing: selectedPath) {
            case .refreshed: []
            case .added: [.pathValidated(path)]
            case .replaced(let old): [.pathForgotten(old), .pathValidated(path)]
            }
        return actions + handOver(to: path)
    }

    /// The peer is at `former` after all, one of its paths: that it was followed from there was wrong, and the path
    /// sent over is forgotten.
    package mutating func undoRebind(to former: Path) -> [ICEAction] {
        guard let wrong = selectedPath, wrong != former, paths.contains(former), paths.forget(wrong) else { return [] }
        return [.pathForgotten(wrong)] + handOver(to: former)
    }
}
