package import Primitives
package import STUN

/// One ICE session of a lite agent (RFC 8445 §2.5): it answers checks, never sends any, and is always controlled.
///
///     waiting ── setRemote ──▶ checking
///        │                        │
///        └─────────┬──────────────┘
///                  │ check
///                  ▼           USE-CANDIDATE
///              connected ─────────────────────▶ completed ◀─┐
///                  │                             │  ▲  └────┘ USE-CANDIDATE over another path
///                  │ restart             restart │  │
///                  └──────────▶ restarting ◀─────┘  │
///                                    └──────────────┘ USE-CANDIDATE under the new parameters
///
/// Silence leads from `completed` to `connected` when another path is still alive, and from every state but
/// `waiting` to `failed` when none is. A restart leads from there to `checking`.
///
/// The peer chooses the pair. Until it has, the agent sends over the path of the first valid check.
///
/// Deviation: RFC 8445 §7.3.2 lets a lite agent note a pair only once it is nominated. Sending earlier saves the
/// time between check and nomination, and the check, made with our password, is the peer's consent to it.
package struct ICELiteAgent: Sendable {
    package struct Configuration: Hashable, Sendable {
        /// A session without any valid check for this long has failed, and a path without one is forgotten (RFC 7675 §5.1).
        package var consentTimeout: Duration
        /// How long the peer may take to its first valid check, counted from `setRemote`.
        package var establishmentTimeout: Duration
        /// Paths remembered at a time, at least 2; the one silent longest makes room for a new one.
        package var maximumPathCount: Int

        package init(consentTimeout: Duration = .seconds(30), establishmentTimeout: Duration = .seconds(30), maximumPathCount: Int = 16) {
            self.consentTimeout = consentTimeout
            self.establishmentTimeout = establishmentTimeout
            self.maximumPathCount = maximumPathCount
        }
    }

    /// Why the agent wants to be woken.
    package enum Timer: Hashable, Sendable {
        case establishment
        case consent
        case pathExpiry
    }

    /// What both sides put into their descriptions; the peer's part may come later than its first checks.
    struct Credentials: Hashable, Sendable {
        var local: ICEParameters
        var remote: ICEParameters?
    }

    /// The state with what belongs to it.
    enum Progress: Hashable, Sendable {
        case waiting
        case checking(until: MonotonicTime)
        case connected(Path)
        case completed(Path)
        case restarting(Path, previous: Credentials)
        case failed(ICEFailure)
    }

    package let configuration: Configuration
    private(set) var credentials: Credentials
    private(set) var progress = Progress.waiting
    private var paths: ValidatedPaths

    package init(local: ICEParameters, configuration: Configuration = Configuration()) {
        self.configuration = configuration
        credentials = Credentials(local: local, remote: nil)
        paths = ValidatedPaths(capacity: configuration.maximumPathCount)
    }
}

// MARK: - Inputs

extension ICELiteAgent {
    /// Both descriptions are on their way or there: from now on the peer is expected to check.
    ///
    /// Checks that came earlier may be another's: several devices that were offered the same parameters may all begin to
    /// check, and only one of them is answered to. The others' paths are forgotten.
    package mutating func setRemote(_ remote: ICEParameters, at now: MonotonicTime) -> [ICEAction] {
        let isFirst = credentials.remote == nil
        credentials.remote = remote
        let checking = Progress.checking(until: now + configuration.establishmentTimeout)
        switch progress {
        case .waiting:
            return move(to: checking)
        case .connected(let selected), .completed(let selected):
            guard isFirst else { return [] }
            let others = paths.forget(notBy: remote.ufrag)
            let actions = others.map { ICEAction.pathForgotten($0) }
            guard others.contains(selected) else { return actions }
            return actions + move(to: paths.freshest.map { .connected($0) } ?? checking)
        case .checking, .restarting, .failed:
            return []
        }
    }

    /// A STUN message came in.
    ///
    /// - Parameters:
    ///   - raw: the bytes that `message` was parsed from.
    ///   - path: the socket it came in on and the address it came from.
    package mutating func receive(
        _ message: STUNMessage, raw: Span<UInt8>, over path: Path, at now: MonotonicTime, authentication: some MessageAuthentication
    ) -> [ICEAction] {
        switch examine(message, raw: raw, authentication: authentication) {
        case .drop(let refusal):
            return [.refused(refusal)]
        case .reject(let refusal, let response):
            return [.refused(refusal), .transmit(response.encoded(fingerprint: true), over: path)]
        case .rejectAuthenticated(let refusal, let response, let local):
            return [.refused(refusal), .transmit(response.encoded(with: local, authentication), over: path)]
        case .accept(let used):
            let success = STUNMessage.success(for: message, from: path.remote)
            return [.transmit(success.encoded(with: used.credentials.local, authentication), over: path)]
                + checked(path, by: used.sender, nominates: message.usesCandidate, under: used.credentials, at: now)
        }
    }

    /// Starts over with new parameters (RFC 8445 §9): media stays on the selected path, and checks with the old
    /// parameters keep it alive, until the peer nominates a pair under the new ones.
    ///
    /// - Parameter remote: `nil` if we restart by an offer whose answer is still to come.
    package mutating func restart(local: ICEParameters, remote: ICEParameters?, at now: MonotonicTime) -> [ICEAction] {
        let replaced = credentials
        credentials = Credentials(local: local, remote: remote)
        switch progress {
        case .waiting, .checking, .failed:
            let next = remote == nil ? .waiting : Progress.checking(until: now + configuration.establishmentTimeout)
            return [.fragmentRetired(replaced.local.ufrag)] + move(to: next)
        case .connected(let path), .completed(let path):
            return move(to: .restarting(path, previous: replaced))
        case .restarting:
            // The live pair still belongs to the parameters before those that are replaced now.
            return [.fragmentRetired(replaced.local.ufrag)]
        }
    }

    /// The time of `nextDeadline` has come; too early a call does nothing.
    package mutating func timeout(at now: MonotonicTime) -> [ICEAction] {
        switch progress {
        case .waiting, .failed:
            return []
        case .checking(let deadline):
            return now < deadline ? [] : move(to: .failed(.neverConnected))
        case .connected(let selected), .completed(let selected):
            // What takes over is not nominated.
            return forgetSilentPaths(at: now, selected) { .connected($0) }
        case .restarting(let selected, let previous):
            return forgetSilentPaths(at: now, selected) { .restarting($0, previous: previous) }
        }
    }
}

// MARK: - Queries

extension ICELiteAgent {
    package var state: ICEState {
        switch progress {
        case .waiting: .waiting
        case .checking: .checking
        case .connected: .connected
        case .completed: .completed
        case .restarting: .restarting
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
        case .waiting, .failed:
            return nil
        case .checking(let deadline):
            return Deadline(deadline, .establishment)
        case .connected, .completed, .restarting:
            return .earlier(
                paths.newestCheck.map { Deadline($0 + configuration.consentTimeout, .consent) },
                paths.oldestCheck.map { Deadline($0 + configuration.consentTimeout, .pathExpiry) }
            )
        }
    }
}

// MARK: - Transitions

extension ICELiteAgent {
    /// A valid check came over `path`, made by `sender` with `used`.
    private mutating func checked(_ path: Path, by sender: String, nominates: Bool, under used: Credentials, at now: MonotonicTime) -> [ICEAction] {
        var actions: [ICEAction] = []
        switch paths.record(path, by: sender, at: now, sparing: selectedPath) {
        case .refreshed: break
        case .added: actions = [.pathValidated(path)]
        case .replaced(let old): actions = [.pathForgotten(old), .pathValidated(path)]
        }
        switch progress {
        case .waiting, .checking:
            actions += move(to: nominates ? .completed(path) : .connected(path))
        case .connected, .completed:
            if nominates { actions += move(to: .completed(path)) }
        case .restarting(_, let previous):
            guard nominates else { break }
            actions += move(to: used == previous ? .restarting(path, previous: previous) : .completed(path))
        case .failed:
            preconditionFailure("a failed session accepts no check")
        }
        return actions
    }

    /// Consent ends with the last path; a selected path that is forgotten hands over to the one checked last.
    private mutating func forgetSilentPaths(at now: MonotonicTime, _ selected: Path, handOver: (Path) -> Progress) -> [ICEAction] {
        let forgotten = paths.forget(silentFor: configuration.consentTimeout, at: now)
        let actions = forgotten.map { ICEAction.pathForgotten($0) }
        guard let heir = paths.freshest else { return actions + move(to: .failed(.consentExpired)) }
        return forgotten.contains(selected) ? actions + move(to: handOver(heir)) : actions
    }

    /// The only place that assigns `progress`; what to tell follows from the difference.
    private mutating func move(to next: Progress) -> [ICEAction] {
        let (previous, previousState) = (progress, state)
        progress = next
        var actions: [ICEAction] = []
        if let path = next.selectedPath, path != previous.selectedPath { actions.append(.selected(path)) }
        if let old = previous.previous, next.previous != old { actions.append(.fragmentRetired(old.local.ufrag)) }
        if state != previousState { actions.append(.stateChanged(state)) }
        return actions
    }
}

extension ICELiteAgent.Progress {
    var selectedPath: Path? {
        switch self {
        case .connected(let path), .completed(let path), .restarting(let path, _): path
        case .waiting, .checking, .failed: nil
        }
    }

    /// The parameters from before a restart, while they still count.
    var previous: ICELiteAgent.Credentials? {
        switch self {
        case .restarting(_, let previous): previous
        case .waiting, .checking, .connected, .completed, .failed: nil
        }
    }
}
