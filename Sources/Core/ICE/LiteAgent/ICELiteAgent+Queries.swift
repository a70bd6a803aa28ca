package import Primitives

extension ICELiteAgent {
    /// The state of the session.
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

    /// The gateway's current parameters.
    package var local: ICEParameters { credentials.local }
    /// The peer's current parameters; `nil` until its description is known.
    package var remote: ICEParameters? { credentials.remote }

    /// The path to send over: the pair nominated last, or the first validated path; `nil` before the first valid check.
    package var selectedPath: Path? { progress.selectedPath }

    /// Whether an authenticated check came over this path. Media over any other path is not this peer's.
    package func accepts(_ path: Path) -> Bool { paths.contains(path) }

    /// All paths over which a valid check came and that are not forgotten.
    package var validatedPaths: [Path] { paths.all }

    /// The receiver's fragments in USERNAME that belong to this session: one, or two during a restart.
    package var localFragments: [String] {
        [credentials.local.ufrag] + (progress.previous.map { [$0.local.ufrag] } ?? [])
    }

    /// When to call `timeout`, and why; `nil` if no timer runs.
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
