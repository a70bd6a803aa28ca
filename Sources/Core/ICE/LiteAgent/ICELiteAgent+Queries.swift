package import Primitives

extension ICELiteAgent {
    package var state: ICEState {
        switch progress {
        case .waiting: .waiting
        case .checking: .checking
        case .connected: .connected
        case .completed: .completed
        case .restarting: .restarting
        case .disconnected: .disconnected
        case .failed(let failure): .failed(failure)
        }
    }

    package var local: ICEParameters { credentials.local }
    package var remote: ICEParameters? { credentials.remote }

    /// Where to send: the pair nominated last, or the first path that was validated.
    package var selectedPath: Path? { progress.selectedPath }

    /// Whether an authenticated check came over this path: media from any other is not this peer's.
    package func accepts(_ path: Path) -> Bool { paths.contains(path) }

    package var validatedPaths: [Path] { paths.all }

    /// The receiver's fragments in USERNAME that mean this session; two while it restarts.
    package var localFragments: [String] {
        [credentials.local.ufrag] + (progress.previous.map { [$0.local.ufrag] } ?? [])
    }

    package var nextDeadline: Deadline<Timer>? {
        switch progress {
        case .waiting, .failed: nil
        case .checking(let deadline): Deadline(deadline, .establishment)
        case .disconnected(let deadline, _): Deadline(deadline, .consent)
        case .connected(let selected), .completed(let selected), .restarting(let selected, _):
            .earlier(silenceDeadline(of: selected), expiryDeadline)
        }
    }

    private func silenceDeadline(of selected: Path) -> Deadline<Timer>? {
        guard !isSilent else { return nil }
        return paths.lastSign(over: selected).map { Deadline($0 + configuration.silenceTimeout, .silence) }
    }

    private var expiryDeadline: Deadline<Timer>? {
        .earlier(
            paths.newestSign.map { Deadline($0 + configuration.consentTimeout, .consent) },
            paths.oldestSign.map { Deadline($0 + configuration.consentTimeout, .pathExpiry) }
        )
    }
}
