package import Primitives

/// Peers whose NAT gives them another port and that send no checks from it.
///
/// Deviation: in RFC 8445, only checks lead to another pair. Some peers send no checks while media flows, and would be
/// lost for good.
extension ICELiteAgent {
    /// Whether a peer may be followed to `path` by its packets alone. Both paths must be over UDP and on the same
    /// socket, and the peer must have sent no checks for `silenceTimeout`. A peer that sends checks is followed by
    /// them.
    package func mayRebind(to path: Path, at now: MonotonicTime) -> Bool {
        guard let selectedPath, selectedPath.connection == nil, path.connection == nil, path.local == selectedPath.local
        else { return false }
        guard !paths.contains(path) else { return false }
        guard let newestCheck = paths.newestCheck else { return true }
        return newestCheck + configuration.silenceTimeout <= now
    }

    /// Takes `path` for the peer's new path: it counts as one of its paths from now on and becomes the selected one.
    /// Nothing happens if `mayRebind` is `false`.
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

    /// Undoes a wrong `rebind`, because the peer is still at `former`, one of its paths. The selected path is
    /// forgotten.
    package mutating func undoRebind(to former: Path) -> [ICEAction] {
        guard let wrong = selectedPath, wrong != former, paths.contains(former), paths.forget(wrong) else { return [] }
        return [.pathForgotten(wrong)] + handOver(to: former)
    }
}
