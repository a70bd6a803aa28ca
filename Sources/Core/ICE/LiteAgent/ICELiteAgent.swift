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
/// A check is a sign of life, and so is a packet that the peer's keys protect (`heard`): a peer may leave checks out
/// while its media flows. Silence on the selected path leads from `completed` to `connected` when another path is
/// alive, and from every state but `waiting` to `failed` when none is for the consent timeout. A restart leads from
/// there to `checking`.
///
/// Paths over TCP can also be closed. When the last one is, the session is `disconnected`: the next check leads back to
/// the state it came from, the consent timeout to `failed`.
///
/// The peer chooses the pair. Until it has, the agent sends over the path of the first valid check.
///
/// Deviation: RFC 8445 §7.3.2 lets a lite agent note a pair only once it is nominated. Sending earlier saves the
/// time between check and nomination, and the check, made with our password, is the peer's consent to it.
package struct ICELiteAgent: Sendable {
    package struct Configuration: Hashable, Sendable {
        /// A session without any sign of life for this long has failed, and a path without one is forgotten (RFC 7675
        /// §5.1).
        package var consentTimeout: Duration
        /// A selected path without a sign of life for this long hands over to one that had one since; when there is
        /// none, the path is reported as lost. RFC 7675 §5.1 makes a peer check every 4 to 6 seconds.
        package var silenceTimeout: Duration
        /// How long the peer may take to its first valid check, counted from `setRemote`.
        package var establishmentTimeout: Duration
        /// Paths remembered at a time, at least 2; the one silent longest makes room for a new one.
        package var maximumPathCount: Int

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

    /// Why the agent wants to be woken.
    package enum Timer: Hashable, Sendable {
        case establishment
        case consent
        case pathExpiry
        case silence
    }

    /// What both sides put into their descriptions; the peer's part may come later than its first checks.
    struct Credentials: Hashable, Sendable {
        var local: ICEParameters
        var remote: ICEParameters?
    }

    /// The state with what belongs to it. `previous` are the parameters from before a restart, while they still count.
    enum Progress: Hashable, Sendable {
        case waiting
        case checking(until: MonotonicTime)
        case connected(Path)
        case completed(Path)
        case restarting(Path, previous: Credentials)
        case disconnected(until: MonotonicTime, previous: Credentials?)
        case failed(ICEFailure)
    }

    package let configuration: Configuration
    private(set) var credentials: Credentials
    private(set) var progress = Progress.waiting
    var paths: ValidatedPaths
    /// Whether the peer has been silent for so long that its path was reported as lost.
    private(set) var isSilent = false
    /// Whether a description has ever said who the peer is. From then on no other can have learnt our parameters.
    private var knowsPeer = false
    /// Candidates told since the peer's parameters were.
    var trickledCount = 0

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
    /// Checks that came before the first description may be another's: several devices that were offered the same parameters
    /// may all begin to check, and only one of them is answered to. The others' paths are forgotten. After a restart there
    /// are no others, and no path is forgotten.
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

    /// A STUN message came in.
    ///
    /// - Parameters:
    ///   - raw: the bytes that `message` was parsed from.
    ///   - path: the socket it came in on and the address it came from.
    package mutating func receive(
        _ message: STUNMessage, raw: Span<UInt8>, over path: Path, at now: MonotonicTime,
        authentication: some MessageAuthentication
    ) -> [ICEAction] {
        switch examine(message, raw: raw, authentication: authentication) {
        case .drop(let refusal):
            return [.refused(refusal)]
        case .reject(let refusal, let response):
            let answer = response.encoded(fingerprint: true)
            // Anybody can have made the request up, with another's address: it must not draw more than it cost.
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

    /// A packet that the peer's keys protect has come over `path`, and was none that had come before. Over a path that
    /// was never checked it says nothing.
    ///
    /// It is evidence of the peer's consent like a check, and better: a check can be sent again by anybody who has seen
    /// it.
    package mutating func heard(over path: Path, at now: MonotonicTime) -> [ICEAction] {
        guard paths.noteSign(over: path, at: now) else { return [] }
        return shownAlive(over: path, nominates: false, under: nil)
    }

    /// Starts over with new parameters (RFC 8445 §9): media stays on the selected path, and checks with the old
    /// parameters keep it alive, until the peer nominates a pair under the new ones. The same fragment again changes nothing.
    ///
    /// - Parameter remote: `nil` if we restart by an offer whose answer is still to come.
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
            // The live pair still belongs to the parameters before those that are replaced now.
            return [.fragmentRetired(replaced.local.ufrag)]
        }
    }

    /// The connection under a path was closed or has broken (RFC 6544 §11.1); the peer may open another.
    package mutating func pathClosed(_ path: Path, at now: MonotonicTime) -> [ICEAction] {
        let (wasSelected, newestSign) = (path == selectedPath, paths.newestSign)
        guard paths.forget(path), let newestSign else { return [] }
        guard wasSelected else { return [.pathForgotten(path)] }
        if let heir = paths.freshest { return [.pathForgotten(path)] + move(to: handedOver(to: heir)) }
        let next = Progress.disconnected(until: newestSign + configuration.consentTimeout, previous: progress.previous)
        return [.pathForgotten(path)] + move(to: next) + fallSilent(since: newestSign, at: now)
    }

    /// The time of `nextDeadline` has come; too early a call does nothing.
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
    /// A valid check came over `path`, made by `sender` with `used`.
    private mutating func checked(
        _ path: Path, by sender: String, nominates: Bool, under used: Credentials, at now: MonotonicTime
    ) -> [ICEAction] {
        var actions: [ICEAction] = []
        switch paths.record(path, by: sender, at: now, sparing: selectedPath) {
        case .refreshed: break
        case .added: actions = [.pathValidated(path)]
        case .replaced(let old): actions = [.pathForgotten(old), .pathValidated(path)]
        }
        return actions + shownAlive(over: path, nominates: nominates, under: used)
    }

    /// A sign of life came over a path. After silence it is taken for the one to send over, whatever the peer had
    /// chosen before.
    ///
    /// - Parameter used: what a check was made with; only checks nominate.
    private mutating func shownAlive(over path: Path, nominates: Bool, under used: Credentials?) -> [ICEAction] {
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

    /// Consent ends with the last path. A selected path that has fallen silent hands over to one heard from later; if
    /// there is none, all are silent.
    private mutating func passSilence(on selected: Path, at now: MonotonicTime) -> [ICEAction] {
        let actions = paths.forget(silentFor: configuration.consentTimeout, at: now).map { ICEAction.pathForgotten($0) }
        guard let heir = paths.freshest else { return actions + move(to: .failed(.consentExpired)) }
        guard let lastSign = paths.lastSign(over: selected) else { return actions + move(to: handedOver(to: heir)) }
        guard lastSign + configuration.silenceTimeout <= now else { return actions }
        if let newestSign = paths.newestSign, newestSign > lastSign { return actions + move(to: handedOver(to: heir)) }
        return actions + fallSilent(since: lastSign, at: now)
    }

    private mutating func fallSilent(since lastSign: MonotonicTime, at now: MonotonicTime) -> [ICEAction] {
        guard !isSilent else { return [] }
        isSilent = true
        return [.pathLost(after: now - lastSign)]
    }

    /// A path takes over without having been nominated, and perhaps after silence.
    mutating func handOver(to path: Path) -> [ICEAction] {
        let returned: [ICEAction] = isSilent ? [.pathRecovered] : []
        isSilent = false
        return returned + move(to: handedOver(to: path))
    }

    /// The progress after another path took over without having been nominated.
    private func handedOver(to heir: Path) -> Progress {
        progress.previous.map { .restarting(heir, previous: $0) } ?? .connected(heir)
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
        case .waiting, .checking, .disconnected, .failed: nil
        }
    }

    /// The parameters from before a restart, while they still count.
    var previous: ICELiteAgent.Credentials? {
        switch self {
        case .restarting(_, let previous): previous
        case .disconnected(_, let previous): previous
        case .waiting, .checking, .connected, .completed, .failed: nil
        }
    }
}
