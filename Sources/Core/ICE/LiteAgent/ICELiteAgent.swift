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
/// A check is a sign of life, and so is a packet that the peer's keys protect (`heard`), because a peer may omit checks
/// while its media flows. If the selected path is silent and another path is alive, `completed` becomes `connected`. If
/// no path has a sign of life for the consent timeout, every state but `waiting` becomes `failed`. A restart leads from
/// there to `checking`.
///
/// Paths over TCP can also be closed. When the last one is, the session is `disconnected`. The next check leads back to
/// the former state, the consent timeout to `failed`.
///
/// The peer chooses the pair. Until it has, the agent sends over the path of the first valid check.
///
/// Deviation: RFC 8445 §7.3.2 allows a lite agent to use a pair only once it is nominated. Sending earlier saves the
/// time between check and nomination. The check, made with the gateway's password, is the peer's consent to it.
package struct ICELiteAgent: Sendable {
    /// The time limits of a session.
    package struct Configuration: Hashable, Sendable {
        /// The time without any sign of life after which a session has failed and a path is forgotten (RFC 7675 §5.1).
        package var consentTimeout: Duration
        /// The time without a sign of life after which a selected path is replaced by one that had one since. If there
        /// is none, the path is reported as lost. RFC 7675 §5.1 makes a peer check every 4 to 6 seconds.
        package var silenceTimeout: Duration
        /// The longest time to the first valid check, counted from `setRemote`.
        package var establishmentTimeout: Duration
        /// The most paths at a time, at least 2. The path that was silent longest makes room for a new one.
        package var maximumPathCount: Int

        /// Makes limits of their parts; each parameter is the property of that name.
        package init(
            consentTimeout: Duration = .seconds(30), silenceTimeout: Duration = .seconds(7),
            establishmentTimeout: Duration = .seconds(30),
            maximumPathCount: Int = 16
        ) {
            self.consentTimeout = consentTimeout
            self.silenceTimeout = silenceTimeout
            self.establishmentTimeout = establishmentTimeout
            self.maximumPathCount = maximumPathCount
        }
    }

    /// The reason of a deadline.
    package enum Timer: Hashable, Sendable {
        /// No valid check has come in time.
        case establishment
        /// The peer's consent expires.
        case consent
        /// The path that has been silent longest reaches the consent timeout and is forgotten.
        case pathExpiry
        /// The selected path has been silent.
        case silence
    }

    /// The ICE parameters of both descriptions. Those of the peer may come later than its first checks.
    struct Credentials: Hashable, Sendable {
        var local: ICEParameters
        var remote: ICEParameters?
    }

    /// The state with its data. `previous` are the parameters from before a restart, while they are still valid.
    enum Progress: Hashable, Sendable {
        case waiting
        case checking(until: MonotonicTime)
        case connected(Path)
        case completed(Path)
        case restarting(Path, previous: Credentials)
        case disconnected(until: MonotonicTime, previous: Credentials?)
        case failed(ICEFailure)
    }

    /// The most candidates that a peer may trickle for one set of its parameters.
    package static let maximumTrickledCount = 128

    /// The settings, which do not change.
    package let configuration: Configuration
    private(set) var credentials: Credentials
    private(set) var progress = Progress.waiting
    var paths: ValidatedPaths
    /// Whether the peer has been silent for so long that its path was reported as lost.
    private(set) var isSilent = false
    /// Whether a description of the peer has ever been known. From then on, no other device knows the gateway's
    /// parameters.
    private var knowsPeer = false
    /// The candidates that were trickled since the peer's parameters were set.
    private var trickledCount = 0

    /// Makes a session in the state `waiting`.
    ///
    /// - Parameters:
    ///   - local: The gateway's parameters.
    ///   - configuration: The settings.
    package init(local: ICEParameters, configuration: Configuration = Configuration()) {
        self.configuration = configuration
        credentials = Credentials(local: local, remote: nil)
        paths = ValidatedPaths(capacity: configuration.maximumPathCount)
    }
}

// MARK: - Inputs

extension ICELiteAgent {
    /// Sets the peer's parameters: both descriptions are known or on their way, and the peer is expected to send checks
    /// from now on.
    ///
    /// Checks that came before the first description may be another device's. If several devices were offered the same
    /// parameters, all of them may send checks, but only one of them becomes the peer; the paths of the others are
    /// forgotten. After a restart there are no other devices, and no path is forgotten.
    package mutating func setRemote(_ remote: ICEParameters, at now: MonotonicTime) -> [ICEAction] {
        let isFirst = !knowsPeer
        knowsPeer = true
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
        case .checking, .restarting, .disconnected, .failed:
            return []
        }
    }

    /// Takes a trickled candidate of the peer (RFC 8838). It is examined, but has no effect: see
    /// `TrickleVerdict.noted`.
    package mutating func trickled(_ trickled: TrickledCandidate) -> TrickleVerdict {
        guard case .candidate(let candidate) = trickled else { return .noted }
        if let ufrag = candidate.ufrag, let remote, ufrag != remote.ufrag { return .stale(ufrag: ufrag) }
        guard trickledCount < Self.maximumTrickledCount else { return .limitReached }
        trickledCount += 1
        return .noted
    }

    /// A STUN message came in.
    ///
    /// - Parameters:
    ///   - message: The parsed message.
    ///   - raw: The bytes that `message` was parsed from.
    ///   - path: The socket that it came in on and the address that it came from.
    ///   - now: The time of arrival.
    ///   - authentication: Computes the message integrity.
    package mutating func receive(
        _ message: STUNMessage, raw: Span<UInt8>, over path: Path, at now: MonotonicTime,
        authentication: some MessageAuthentication
    ) -> [ICEAction] {
        switch examine(message, raw: raw, authentication: authentication) {
        case .drop(let refusal):
            return [.refused(refusal)]
        case .reject(let refusal, let response):
            let answer = response.encoded(fingerprint: true)
            // An attacker may have forged the request with another's address, so the response must not be longer than
            // it.
            guard answer.count <= raw.count else { return [.refused(refusal)] }
            return [.refused(refusal), .transmit(answer, over: path)]
        case .rejectAuthenticated(let refusal, let response, let local):
            return [.refused(refusal), .transmit(response.encoded(with: local, authentication), over: path)]
        case .accept(let used):
            let success = STUNMessage.success(for: message, from: path.remote)
            return [.transmit(success.encoded(with: used.credentials.local, authentication), over: path)]
                + checked(path, by: used.sender, nominates: message.usesCandidate, under: used.credentials, at: now)
        }
    }

    /// A packet that the peer's keys protect and that is no repetition came over `path`. It has no effect over a path
    /// that was never checked.
    ///
    /// It is evidence of the peer's consent like a check. It is even better evidence, because an attacker who has
    /// captured a check can send it again.
    package mutating func heard(over path: Path, at now: MonotonicTime) -> [ICEAction] {
        guard paths.noteSign(over: path, at: now) else { return [] }
        return noteSignOfLife(over: path, nominates: false, under: nil)
    }

    /// Restarts ICE with new parameters (RFC 8445 §9). Media stays on the selected path, which checks with the old
    /// parameters keep alive, until the peer nominates a pair under the new ones. A fragment that is in use already
    /// changes nothing.
    ///
    /// - Parameters:
    ///   - local: The gateway's new parameters.
    ///   - remote: The peer's new parameters; `nil` if the gateway restarts by an offer whose answer is still to come.
    ///   - now: The time.
    package mutating func restart(local: ICEParameters, remote: ICEParameters?, at now: MonotonicTime) -> [ICEAction] {
        guard local.ufrag != credentials.local.ufrag else { return [] }
        let replaced = credentials
        credentials = Credentials(local: local, remote: remote)
        knowsPeer = knowsPeer || remote != nil
        trickledCount = 0
        switch progress {
        case .waiting, .checking, .failed:
            isSilent = false
            let next = remote == nil ? .waiting : Progress.checking(until: now + configuration.establishmentTimeout)
            return [.fragmentRetired(replaced.local.ufrag)] + move(to: next)
        case .connected(let path), .completed(let path):
            return move(to: .restarting(path, previous: replaced))
        case .disconnected(let deadline, nil):
            return move(to: .disconnected(until: deadline, previous: replaced))
        case .restarting, .disconnected:
            // The live pair belongs to the parameters before those that are replaced now.
            return [.fragmentRetired(replaced.local.ufrag)]
        }
    }

    /// The TCP connection of a path was closed or has broken (RFC 6544 §11). The peer may open another.
    package mutating func pathClosed(_ path: Path, at now: MonotonicTime) -> [ICEAction] {
        let (wasSelected, newestSign) = (path == selectedPath, paths.newestSign)
        guard paths.forget(path), let newestSign else { return [] }
        guard wasSelected else { return [.pathForgotten(path)] }
        if let fallback = paths.freshest { return [.pathForgotten(path)] + move(to: handedOver(to: fallback)) }
        let next = Progress.disconnected(until: newestSign + configuration.consentTimeout, previous: progress.previous)
        return [.pathForgotten(path)] + move(to: next) + markSilent(since: newestSign, at: now)
    }

    /// The time of `nextDeadline` has come. A call before that does nothing.
    package mutating func timeout(at now: MonotonicTime) -> [ICEAction] {
        switch progress {
        case .waiting, .failed: []
        case .checking(let deadline): now < deadline ? [] : move(to: .failed(.neverConnected))
        case .connected(let selected), .completed(let selected), .restarting(let selected, _):
            passSilence(on: selected, at: now)
        case .disconnected(let deadline, _): now < deadline ? [] : move(to: .failed(.consentExpired))
        }
    }
}

// MARK: - Transitions

extension ICELiteAgent {
    /// A valid check came over `path`, made by `sender` with the credentials `used`.
    private mutating func checked(
        _ path: Path, by sender: String, nominates: Bool, under used: Credentials, at now: MonotonicTime
    ) -> [ICEAction] {
        var actions: [ICEAction] = []
        switch paths.record(path, by: sender, at: now, sparing: selectedPath) {
        case .refreshed: break
        case .added: actions = [.pathValidated(path)]
        case .replaced(let old): actions = [.pathForgotten(old), .pathValidated(path)]
        }
        return actions + noteSignOfLife(over: path, nominates: nominates, under: used)
    }

    /// A sign of life came over a path. After silence, that path becomes the selected one, whatever the peer had chosen
    /// before.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - nominates: Whether it is a check with USE-CANDIDATE.
    ///   - used: The credentials of a check; `nil` for a media packet, which cannot nominate.
    private mutating func noteSignOfLife(over path: Path, nominates: Bool, under used: Credentials?) -> [ICEAction] {
        var actions: [ICEAction] = []
        let returns = isSilent
        if returns {
            isSilent = false
            actions.append(.pathRecovered)
        }
        switch progress {
        case .waiting, .checking, .disconnected(_, nil):
            actions += move(to: nominates ? .completed(path) : .connected(path))
        case .connected(let selected), .completed(let selected):
            if nominates {
                actions += move(to: .completed(path))
            } else if returns, path != selected {
                actions += move(to: .connected(path))
            }
        case .restarting(_, let previous), .disconnected(_, let previous?):
            if nominates, used != previous {
                actions += move(to: .completed(path))
            } else if nominates || returns || selectedPath == nil {
                actions += move(to: .restarting(path, previous: previous))
            }
        case .failed:
            preconditionFailure("a failed session has no path and accepts no check")
        }
        return actions
    }

    /// Ends the session's consent with the last path. A silent selected path is replaced by one with a later sign of
    /// life. If there is none, all paths are silent.
    private mutating func passSilence(on selected: Path, at now: MonotonicTime) -> [ICEAction] {
        let actions = paths.forget(silentFor: configuration.consentTimeout, at: now).map { ICEAction.pathForgotten($0) }
        guard let fallback = paths.freshest else { return actions + move(to: .failed(.consentExpired)) }
        guard let lastSign = paths.lastSign(over: selected) else { return actions + move(to: handedOver(to: fallback)) }
        guard lastSign + configuration.silenceTimeout <= now else { return actions }
        if let newestSign = paths.newestSign, newestSign > lastSign {
            return actions + move(to: handedOver(to: fallback))
        }
        return actions + markSilent(since: lastSign, at: now)
    }

    private mutating func markSilent(since lastSign: MonotonicTime, at now: MonotonicTime) -> [ICEAction] {
        guard !isSilent else { return [] }
        isSilent = true
        return [.pathLost(after: now - lastSign)]
    }

    /// Selects a path that was not nominated, perhaps after silence.
    mutating func handOver(to path: Path) -> [ICEAction] {
        let returned: [ICEAction] = isSilent ? [.pathRecovered] : []
        isSilent = false
        return returned + move(to: handedOver(to: path))
    }

    /// The progress after a path that was not nominated has been selected.
    private func handedOver(to fallback: Path) -> Progress {
        progress.previous.map { .restarting(fallback, previous: $0) } ?? .connected(fallback)
    }

    /// Enters a state. It is the only place that assigns `progress`; the actions follow from the difference.
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
        case .waiting, .checking, .disconnected, .failed: nil
        }
    }

    /// The parameters from before a restart, while they are still valid.
    var previous: ICELiteAgent.Credentials? {
        switch self {
        case .restarting(_, let previous): previous
        case .disconnected(_, let previous): previous
        case .waiting, .checking, .connected, .completed, .failed: nil
        }
    }
}
