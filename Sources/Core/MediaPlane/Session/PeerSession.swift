package import ICE
package import Primitives
package import SDP
package import STUN

/// The transport of one leg. ICE decides where packets go and to which session they belong; DTLS decides whether they
/// may carry media.
///
///     described ◀── connect ── awaitingDescription
///         │ first valid check
///         ▼
///     handshaking ── handshakeCompleted, certificate as announced ──▶ established
///         │
///         └── certificate differs, handshake failed or too slow ──▶ failed
///
/// Loss of consent leads from every state to `failed`. An ICE restart changes none of these states: the DTLS
/// association and its keys continue over whatever path is selected. The owner of this value has the DTLS and SRTP
/// machines. This value says when a handshake starts, which packets may reach it, and what its outcome means.
package struct PeerSession: Sendable {
    /// The settings of a session.
    package struct Configuration: Hashable, Sendable {
        /// The settings of its ICE agent.
        package var ice: ICELiteAgent.Configuration
        /// The longest duration of the handshake; browsers give up after 30 to 60 seconds.
        package var handshakeTimeout: Duration

        /// Makes settings of their parts; each parameter is the property of that name.
        package init(ice: ICELiteAgent.Configuration = .init(), handshakeTimeout: Duration = .seconds(20)) {
            self.ice = ice
            self.handshakeTimeout = handshakeTimeout
        }
    }

    /// The state of a session.
    package enum Phase: Equatable, Sendable {
        /// The peer's description is not known. The peer may already send checks and a ClientHello, which is kept; DTLS
        /// is not answered, because the peer's fingerprint is not known.
        case awaitingDescription
        /// Both descriptions are known; no valid check has come.
        case described(NegotiatedTransport)
        /// The DTLS handshake is under way; it fails if it is not complete at this time.
        case handshaking(NegotiatedTransport, until: MonotonicTime)
        /// Media may flow. `heardMedia` says whether an authenticated RTP packet has come.
        case established(NegotiatedTransport, heardMedia: Bool)
        /// The session is over.
        case failed(SessionFailure)
    }

    /// The reason of a deadline.
    package enum Timer: Hashable, Sendable {
        /// A deadline of the ICE agent.
        case ice(ICELiteAgent.Timer)
        /// The handshake takes too long.
        case handshake
    }

    /// The settings, which do not change.
    package let configuration: Configuration
    /// The state of the session.
    package private(set) var phase = Phase.awaitingDescription
    var ice: ICELiteAgent
    var proofs = PathProofs()
    var rebinding = Rebinding()
    /// The time at which the peer was last followed to an address without a check.
    var reboundAt = MonotonicTime.zero
    /// The ClientHellos that came before the description.
    var earlyFlights = EarlyFlights()
    private var hasConnected = false
    /// Whether `mediaPathLost` was reported and `mediaPathRecovered` was not.
    private var hasLostPath = false

    /// Makes a session in the state `awaitingDescription`.
    ///
    /// - Parameters:
    ///   - local: The gateway's ICE credentials.
    ///   - configuration: The settings.
    package init(local: ICECredentials, configuration: Configuration = Configuration()) {
        self.configuration = configuration
        ice = ICELiteAgent(local: ICEParameters(local), configuration: configuration.ice)
    }
}

// MARK: - Inputs

extension PeerSession {
    /// Takes the agreed transport: both descriptions are known. A second call with the same transport changes nothing
    /// (a re-offer that keeps ICE and DTLS, RFC 8842 §5.5). A call with other ICE parameters is or completes an ICE
    /// restart.
    package mutating func connect(_ transport: NegotiatedTransport, at now: MonotonicTime) -> [SessionAction] {
        switch phase {
        case .awaitingDescription:
            phase = .described(transport)
            // The peer may have taken the credentials of an m-line other than the first offered one.
            let (local, remote) = (ICEParameters(transport.local), ICEParameters(transport.remote))
            let isExpected = local.ufrag == ice.local.ufrag
            let started =
                isExpected ? ice.setRemote(remote, at: now) : ice.restart(local: local, remote: remote, at: now)
            return translate(started) + startHandshakeIfPossible(at: now)
        case .described, .handshaking, .established:
            return restart(local: transport.local, remote: transport.remote, at: now)
        case .failed:
            return []
        }
    }

    /// Restarts ICE (RFC 8445 §9). Checks under the new parameters are answered in addition to those under the old
    /// ones. Media stays on its path until the peer nominates a pair under the new ones. DTLS and SRTP continue.
    ///
    /// Parameters that are already in force change nothing. A failed session stays failed.
    ///
    /// - Parameters:
    ///   - local: The gateway's credentials.
    ///   - remote: The peer's credentials; `nil` if the gateway restarts by an offer of its own. They then come with
    ///     the answer, by `connect` or another call of this function.
    ///   - now: The time.
    package mutating func restart(local: ICECredentials, remote: ICECredentials?, at now: MonotonicTime)
        -> [SessionAction]
    {
        if case .failed = phase { return [] }
        let (local, remote) = (ICEParameters(local), remote.map { ICEParameters($0) })
        if local.ufrag != ice.local.ufrag {
            return translate(ice.restart(local: local, remote: remote, at: now))
        }
        guard let remote, remote != ice.remote else { return [] }
        return translate(ice.setRemote(remote, at: now))
    }

    /// The TCP connection of a path is closed.
    package mutating func pathClosed(_ path: Path, at now: MonotonicTime) -> [SessionAction] {
        if case .failed = phase { return [] }
        return translate(ice.pathClosed(path, at: now))
    }

    /// The peer has trickled a candidate (RFC 8838). A lite agent does not use it; the verdict is for the counters.
    package mutating func trickled(_ candidate: TrickledCandidate) -> TrickleVerdict { ice.trickled(candidate) }

    /// A STUN message came in.
    ///
    /// - Parameters:
    ///   - message: The parsed message.
    ///   - raw: The bytes that it was parsed from.
    ///   - path: The path that it came over.
    ///   - now: The time of arrival.
    ///   - authentication: Computes the message integrity.
    package mutating func receive(
        _ message: STUNMessage, raw: Span<UInt8>, over path: Path, at now: MonotonicTime,
        authentication: some MessageAuthentication
    ) -> [SessionAction] {
        let actions = translate(
            ice.receive(message, raw: raw, over: path, at: now, authentication: authentication))
        if ice.accepts(path) {
            proofs.received(raw.count, over: path)
            if proofs.isUnanswered(path), !actions.contains(where: \.isRefusal) { prove(path) }
        }
        return actions + startHandshakeIfPossible(at: now)
    }

    /// A handshake record came over a path that admits it, in a datagram of this many bytes.
    package mutating func handshakeReceived(bytes: Int, over path: Path) {
        if ice.accepts(path) { proofs.received(bytes, over: path) }
    }

    /// A new RTP or RTCP packet protected by this session's keys came over `path`. It is a sign of life between checks;
    /// reporting one packet now and then is enough.
    package mutating func heard(over path: Path, at now: MonotonicTime) -> [SessionAction] {
        guard isEstablished else { return [] }
        return translate(ice.heard(over: path, at: now))
    }

    /// This session's keys have authenticated a packet of `bytes` bytes, or the end of the handshake, that came over
    /// `path`.
    ///
    /// - Returns: Whether the path is proven now. A path to which the peer was followed by packets alone is not.
    @discardableResult
    package mutating func prove(_ path: Path, by bytes: Int) -> Bool {
        guard ice.accepts(path) else { return false }
        guard !proofs.isUnanswered(path) else {
            proofs.received(bytes, over: path)
            return false
        }
        prove(path)
        return true
    }

    private mutating func prove(_ path: Path) {
        proofs.prove(path)
        proofs.follow(ice.selectedPath)
    }

    /// Whether a packet of this many bytes may be sent over the path, whose address may be that of a third party that
    /// has asked for nothing. If so, it counts as sent.
    package mutating func maySend(bytes: Int, over path: Path) -> Bool { proofs.spend(bytes, over: path) }

    /// The handshake is complete. `digest` computes a digest of the peer's certificate.
    ///
    /// - Returns: `dtlsConnected`, or a failure if the certificate does not match the announced fingerprints.
    package mutating func handshakeCompleted(digest: (Fingerprint.Algorithm) -> [UInt8]?) -> [SessionAction] {
        guard case .handshaking(let transport, _) = phase else { return [] }
        guard Self.certificate(digest, matches: transport.remoteFingerprints) else { return fail(.fingerprintMismatch) }
        phase = .established(transport, heardMedia: false)
        return [.event(.dtlsConnected)]
    }

    /// The handshake has failed.
    package mutating func handshakeFailed() -> [SessionAction] {
        guard case .handshaking = phase else { return [] }
        return fail(.handshakeFailed)
    }

    /// An authenticated RTP packet came in. The call is cheap enough to be made for every packet.
    package mutating func mediaReceived() -> [SessionAction] {
        guard case .established(let transport, heardMedia: false) = phase else { return [] }
        phase = .established(transport, heardMedia: true)
        return [.event(.mediaReceived)]
    }

    /// The time of `nextDeadline` has come. A call before that does nothing.
    package mutating func timeout(at now: MonotonicTime) -> [SessionAction] {
        if case .failed = phase { return [] }
        let actions = translate(ice.timeout(at: now))
        if case .handshaking(_, let deadline) = phase, now >= deadline { return actions + fail(.handshakeFailed) }
        return actions
    }
}

// MARK: - Queries

extension PeerSession {
    /// Whether a DTLS record from this path may reach the handshake, if there is one. Only a checked address may cause
    /// the gateway to compute or answer anything (RFC 5763 §6.7.1 with consent as in RFC 7675).
    package func admitsHandshake(from path: Path) -> Bool {
        switch phase {
        case .awaitingDescription, .handshaking, .established: ice.accepts(path)
        case .described, .failed: false
        }
    }

    /// Whether DTLS has authenticated the peer. Without it there are no keys, and no media flows.
    package var isEstablished: Bool {
        if case .established = phase { true } else { false }
    }

    /// The path that the peer has chosen; `nil` before the first valid check.
    package var selectedPath: Path? { ice.selectedPath }

    /// The path to send over: the selected path, or the last proven one while the selected path is not proven. `nil`
    /// before the first valid check.
    package var destination: Path? { proofs.destination }

    /// Whether the destination is not proven. `maySend` must then be asked before each packet.
    package var isOnTrial: Bool { proofs.isOnTrial }

    /// Whether a packet that came over this path has been authenticated.
    package func isProven(_ path: Path) -> Bool { proofs.isProven(path) }

    /// Whether the peer's description is not known yet.
    package var awaitsDescription: Bool { phase == .awaitingDescription }

    /// The gateway's role in a handshake that is under way; `nil` if none is.
    package var handshakeRole: DTLSRole? {
        if case .handshaking(let transport, _) = phase { transport.role } else { nil }
    }

    /// Whether this session waits for the handshake of the peer with this certificate.
    package func awaits(digest: (Fingerprint.Algorithm) -> [UInt8]?) -> Bool {
        guard case .handshaking(let transport, _) = phase else { return false }
        return Self.certificate(digest, matches: transport.remoteFingerprints)
    }

    /// The paths over which valid checks of this session have come.
    package var validatedPaths: [Path] { ice.validatedPaths }
    /// The gateway's username fragments for which checks are accepted: the current one, and former ones during an ICE
    /// restart.
    package var localFragments: [String] { ice.localFragments }

    /// When to call `timeout`, and why; `nil` if nothing is to be waited for.
    package var nextDeadline: Deadline<Timer>? {
        switch phase {
        case .failed: nil
        case .handshaking(_, let deadline): .earlier(iceDeadline, Deadline(deadline, .handshake))
        case .awaitingDescription, .described, .established: iceDeadline
        }
    }

    private var iceDeadline: Deadline<Timer>? {
        ice.nextDeadline.map { Deadline($0.time, .ice($0.reason)) }
    }
}

// MARK: - Transitions

extension PeerSession {
    private mutating func startHandshakeIfPossible(at now: MonotonicTime) -> [SessionAction] {
        guard case .described(let transport) = phase, ice.selectedPath != nil else { return [] }
        phase = .handshaking(transport, until: now + configuration.handshakeTimeout)
        return [.startHandshake(transport.role)]
    }

    mutating func translate(_ actions: [ICEAction]) -> [SessionAction] {
        var translated: [SessionAction] = []
        for case .pathForgotten(let path) in actions {
            proofs.forget(path)
            earlyFlights.forget(path)
        }
        proofs.follow(ice.selectedPath)
        for action in actions {
            switch action {
            case .transmit(let bytes, let path): translated.append(.transmit(bytes, over: path))
            case .pathValidated(let path): translated.append(.pathValidated(path))
            case .pathForgotten(let path): translated.append(.pathForgotten(path))
            case .fragmentRetired(let fragment): translated.append(.fragmentRetired(fragment))
            case .refused(let refusal): translated.append(.refused(refusal))
            case .selected: break  // asked for when a packet leaves
            case .pathLost(let silence):
                guard isEstablished else { break }
                hasLostPath = true
                translated.append(.event(.mediaPathLost(after: silence)))
            case .pathRecovered:
                if hasLostPath { translated.append(.event(.mediaPathRecovered)) }
                hasLostPath = false
            case .stateChanged(.connected), .stateChanged(.completed):
                if !hasConnected { translated.append(.event(.iceConnected)) }
                hasConnected = true
            case .stateChanged(.failed(.neverConnected)): translated += fail(.neverConnected)
            case .stateChanged(.failed(.consentExpired)): translated += fail(.consentExpired)
            case .stateChanged(.waiting), .stateChanged(.checking), .stateChanged(.restarting),
                .stateChanged(.disconnected):
                break
            }
        }
        return translated
    }

    private mutating func fail(_ failure: SessionFailure) -> [SessionAction] {
        if case .failed = phase { return [] }
        phase = .failed(failure)
        return [.event(.failed(failure))]
    }

    /// Whether the certificate matches. Only fingerprints with the strongest announced algorithm count (RFC 8122 §5);
    /// any of them may match.
    private static func certificate(_ digest: (Fingerprint.Algorithm) -> [UInt8]?, matches announced: [Fingerprint])
        -> Bool
    {
        guard let strongest = announced.map(\.algorithm).max(by: { $0.strength < $1.strength }) else { return false }
        guard let actual = digest(strongest) else { return false }
        return announced.contains { $0.algorithm == strongest && $0.digest == actual }
    }
}

extension Fingerprint.Algorithm {
    fileprivate var strength: Int {
        switch self {
        case .sha224: 1
        case .sha256: 2
        case .sha384: 3
        case .sha512: 4
        }
    }
}

extension ICEParameters {
    /// Makes ICE parameters of credentials from a description.
    package init(_ credentials: ICECredentials) {
        self.init(ufrag: credentials.ufrag, password: credentials.password)
    }
}
