package import ICE
package import Primitives
package import SDP
package import STUN

/// The transport of one leg: ICE decides where packets go and whose they are, DTLS whether they may carry media.
///
///     described ◀── connect ── awaitingDescription
///         │ first valid check
///         ▼
///     handshaking ── handshakeCompleted, certificate as announced ──▶ established
///         │
///         └── certificate differs, handshake failed or too slow ──▶ failed
///
/// Loss of consent leads from every state to `failed`. An ICE restart changes none of these: the association and its keys
/// go on over whatever path is selected. The DTLS and SRTP machines themselves stay with the owner:
/// this value says when a handshake starts, whose packets may reach it, and what its outcome means.
package struct PeerSession: Sendable {
    package struct Configuration: Hashable, Sendable {
        package var ice: ICELiteAgent.Configuration
        /// From the start of the handshake to its end; browsers give up after 30 to 60 seconds.
        package var handshakeTimeout: Duration

        package init(ice: ICELiteAgent.Configuration = .init(), handshakeTimeout: Duration = .seconds(20)) {
            self.ice = ice
            self.handshakeTimeout = handshakeTimeout
        }
    }

    package enum Phase: Equatable, Sendable {
        /// The peer may check already and say ClientHello, which is kept; but who it is remains to be told, and nothing
        /// is answered.
        case awaitingDescription
        /// Both descriptions are known; no valid check so far.
        case described(NegotiatedTransport)
        case handshaking(NegotiatedTransport, until: MonotonicTime)
        /// Media may flow.
        case established(NegotiatedTransport, heardMedia: Bool)
        case failed(SessionFailure)
    }

    /// Why the session wants to be woken.
    package enum Timer: Hashable, Sendable {
        case ice(ICELiteAgent.Timer)
        case handshake
    }

    package let configuration: Configuration
    package private(set) var phase = Phase.awaitingDescription
    var ice: ICELiteAgent
    var proofs = PathProofs()
    var rebinding = Rebinding()
    /// When the peer was last followed to an address without a check.
    var reboundAt = MonotonicTime.zero
    /// What peers have said before the description.
    var earlyFlights = EarlyFlights()
    private var hasConnected = false
    /// Whether `mediaPathLost` was told and `mediaPathRecovered` was not.
    private var hasLostPath = false

    package init(local: ICECredentials, configuration: Configuration = Configuration()) {
        self.configuration = configuration
        ice = ICELiteAgent(local: ICEParameters(local), configuration: configuration.ice)
    }
}

// MARK: - Inputs

extension PeerSession {
    /// Both descriptions are known. A second call with the same transport changes nothing (a re-offer that keeps ICE
    /// and DTLS, RFC 8842 §5.5); one with other ICE parameters is, or completes, an ICE restart.
    package mutating func connect(_ transport: NegotiatedTransport, at now: MonotonicTime) -> [SessionAction] {
        switch phase {
        case .awaitingDescription:
            phase = .described(transport)
            // The peer may have taken the credentials of another m-line than the first that was offered.
            let (local, remote) = (ICEParameters(transport.local), ICEParameters(transport.remote))
            let isExpected = local.ufrag == ice.local.ufrag
            let begun =
                isExpected ? ice.setRemote(remote, at: now) : ice.restart(local: local, remote: remote, at: now)
            return translate(begun, at: now) + startHandshakeIfPossible(at: now)
        case .described, .handshaking, .established:
            return restart(local: transport.local, remote: transport.remote, at: now)
        case .failed:
            return []
        }
    }

    /// Starts ICE over (RFC 8445 §9): checks under the new parameters are answered besides those under the old ones, and media
    /// stays where it is, until the peer nominates a pair under the new ones. DTLS and SRTP go on.
    ///
    /// Parameters that are in force change nothing. A session that has failed stays so.
    ///
    /// - Parameter remote: `nil` if we restart by an offer of our own; the answer comes with `connect`, or with this again.
    package mutating func restart(local: ICECredentials, remote: ICECredentials?, at now: MonotonicTime)
        -> [SessionAction]
    {
        if case .failed = phase { return [] }
        let (local, remote) = (ICEParameters(local), remote.map { ICEParameters($0) })
        if local.ufrag != ice.local.ufrag {
            return translate(ice.restart(local: local, remote: remote, at: now), at: now)
        }
        guard let remote, remote != ice.remote else { return [] }
        return translate(ice.setRemote(remote, at: now), at: now)
    }

    /// The TCP connection under a path is gone.
    package mutating func pathClosed(_ path: Path, at now: MonotonicTime) -> [SessionAction] {
        if case .failed = phase { return [] }
        return translate(ice.pathClosed(path, at: now), at: now)
    }

    /// The peer has trickled a candidate (RFC 8838). Nothing follows from it but the verdict, for the counters.
    package mutating func trickled(_ candidate: TrickledCandidate) -> TrickleVerdict { ice.trickled(candidate) }

    /// A STUN message came in; `raw` is what it was parsed from.
    package mutating func receive(
        _ message: STUNMessage, raw: Span<UInt8>, over path: Path, at now: MonotonicTime,
        authentication: some MessageAuthentication
    ) -> [SessionAction] {
        let actions = translate(
            ice.receive(message, raw: raw, over: path, at: now, authentication: authentication), at: now)
        if ice.accepts(path) {
            proofs.received(raw.count, over: path)
            if proofs.isUnanswered(path), !actions.contains(where: \.isRefusal) { prove(path) }
        }
        return actions + startHandshakeIfPossible(at: now)
    }

    /// A record of the handshake came in over a path that admits it, in a datagram of this many bytes.
    package mutating func handshakeReceived(bytes: Int, over path: Path) {
        if ice.accepts(path) { proofs.received(bytes, over: path) }
    }

    /// A packet of RTP or RTCP that keys of this session protect came over `path`, for the first time: a sign of life,
    /// which checks need not confirm. Enough to be told of one a while.
    package mutating func heard(over path: Path, at now: MonotonicTime) -> [SessionAction] {
        guard isEstablished else { return [] }
        return translate(ice.heard(over: path, at: now), at: now)
    }

    /// Keys of this session have authenticated a packet of this many bytes, or the end of the handshake, that came over
    /// this path.
    ///
    /// - Returns: whether the path is proven now. One that the peer was followed to by packets alone is not.
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

    /// Whether a packet of this many bytes may go over the path, whose peer may be somebody who has asked for nothing; it counts as sent.
    package mutating func maySend(bytes: Int, over path: Path) -> Bool { proofs.spend(bytes, over: path) }

    /// The handshake is through; `digest` computes a digest of the peer's certificate.
    package mutating func handshakeCompleted(digest: (Fingerprint.Algorithm) -> [UInt8]?) -> [SessionAction] {
        guard case .handshaking(let transport, _) = phase else { return [] }
        guard Self.certificate(digest, matches: transport.remoteFingerprints) else { return fail(.fingerprintMismatch) }
        phase = .established(transport, heardMedia: false)
        return [.event(.dtlsConnected)]
    }

    /// The handshake cannot go on.
    package mutating func handshakeFailed() -> [SessionAction] {
        guard case .handshaking = phase else { return [] }
        return fail(.handshakeFailed)
    }

    /// An authenticated RTP packet came in. Cheap enough to be asked for each.
    package mutating func mediaReceived() -> [SessionAction] {
        guard case .established(let transport, heardMedia: false) = phase else { return [] }
        phase = .established(transport, heardMedia: true)
        return [.event(.mediaReceived)]
    }

    /// The time of `nextDeadline` has come; too early a call does nothing.
    package mutating func timeout(at now: MonotonicTime) -> [SessionAction] {
        if case .failed = phase { return [] }
        let actions = translate(ice.timeout(at: now), at: now)
        if case .handshaking(_, let deadline) = phase, now >= deadline { return actions + fail(.handshakeFailed) }
        return actions
    }
}

// MARK: - Queries

extension PeerSession {
    /// Whether a DTLS record from this path may reach the handshake, if there is one: only a checked address can make
    /// the gateway compute or answer anything (RFC 5763 §6.7.1 with consent as in RFC 7675).
    package func admitsHandshake(from path: Path) -> Bool {
        switch phase {
        case .awaitingDescription, .handshaking, .established: ice.accepts(path)
        case .described, .failed: false
        }
    }

    /// Whether media may come from this path.
    package func admitsMedia(from path: Path) -> Bool {
        isEstablished && ice.accepts(path)
    }

    package var isEstablished: Bool {
        if case .established = phase { true } else { false }
    }

    /// Whether the first media packet is still awaited, so that the owner asks `mediaReceived` only then.
    package var awaitsMedia: Bool {
        if case .established(_, heardMedia: false) = phase { true } else { false }
    }

    /// The path that the peer has chosen; `nil` before the first valid check.
    package var selectedPath: Path? { ice.selectedPath }

    /// Where to send: the selected path, or the last proven one until that is proven. `nil` before the first valid check.
    package var destination: Path? { proofs.destination }

    /// What goes to the destination is limited: `maySend` is to be asked before.
    package var isOnTrial: Bool { proofs.isOnTrial }

    /// Whether a packet that came over this path has been authenticated.
    package func isProven(_ path: Path) -> Bool { proofs.isProven(path) }

    /// Whether who the peer is remains to be told.
    package var awaitsDescription: Bool { phase == .awaitingDescription }

    /// The gateway's part in a handshake under way.
    package var handshakeRole: DTLSRole? {
        if case .handshaking(let transport, _) = phase { transport.role } else { nil }
    }

    /// Whether this session awaits the peer that has this certificate.
    package func awaits(digest: (Fingerprint.Algorithm) -> [UInt8]?) -> Bool {
        guard case .handshaking(let transport, _) = phase else { return false }
        return Self.certificate(digest, matches: transport.remoteFingerprints)
    }

    package var validatedPaths: [Path] { ice.validatedPaths }
    package var localFragments: [String] { ice.localFragments }

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

    mutating func translate(_ actions: [ICEAction], at now: MonotonicTime) -> [SessionAction] {
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

    /// The strongest announced algorithm decides (RFC 8122 §5); any of its fingerprints may match.
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
    package init(_ credentials: ICECredentials) {
        self.init(ufrag: credentials.ufrag, password: credentials.password)
    }
}
