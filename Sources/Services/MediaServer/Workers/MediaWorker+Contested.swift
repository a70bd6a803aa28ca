internal import DTLS
internal import MediaPlane
internal import Observability
internal import Primitives
internal import SDP

/// Paths that several legs claim, because an attacker has forged a check, or because a peer has received an address
/// that another peer had.
///
/// Keys decide which leg a packet belongs to: it is decrypted with the keys of each leg that claims the path, those of
/// the owner first (at most `PathClaims.maximumClaims`). A handshake has no keys yet. One of the legs carries it on,
/// and in the end it belongs to the leg whose description has announced the certificate.
extension MediaWorker {
    /// Handles a packet for the first leg whose keys authenticate it.
    func receiveContested(
        _ slot: Int, _ kind: ProtectedKind, over path: Path, _ context: inout WorkerContext
    ) {
        let claims = paths.claims(on: path)
        let legs = legsHere(of: claims)
        // The packet is passed on before decryption changes it in its slot.
        let hosts = passOn(slot, over: path, to: claims, legsHere: legs.count, context)
        guard !legs.isEmpty else { return }
        countReceived(kind, bytes: context.transport.count(slot))
        let sealed = [UInt8](copying: context.transport.datagram(slot))
        var refusal: PacketRefusal?
        for leg in legs {
            do throws(PacketRefusal) {
                let plain = try open(slot, kind, of: leg, &context)
                if claims[0].leg != leg.number || !claims[0].isProven { prove(path, by: leg, bytes: sealed.count) }
                noteLife(of: leg, over: path, &context)
                switch kind {
                case .media: return mediaReceived(slot, count: plain, of: leg, &context)
                case .control: return controlReceived(slot, count: plain, over: path, of: leg, &context)
                }
            } catch {
                noteRepetition(error, of: leg, over: path, &context)
                refusal = refusal ?? error
            }
            restore(sealed, in: slot, &context)
        }
        if let refusal, hosts == 0 { count(refusal) }
    }

    /// Restores a packet that decryption may have changed before its authentication tag was found to be wrong.
    func restore(_ sealed: [UInt8], in slot: Int, _ context: inout WorkerContext) {
        var packet = context.transport.slot(slot)
        for index in sealed.indices { packet[index] = sealed[index] }
    }

    func countReceived(_ kind: ProtectedKind, bytes: Int) {
        switch kind {
        case .media: tally.received(bytes: bytes)
        case .control: tally.controlReceived += 1
        }
    }

    /// Passes a packet on to the workers whose legs claim the path. Returns the number of these workers.
    ///
    /// The worker that has the socket knows all claims. Another worker has received the packet for one of its own legs,
    /// and passes it on only if that leg has left. Therefore no packet circulates.
    private func passOn(
        _ slot: Int, over path: Path, to claims: [PathClaims<LegPlace<MediaLeg>>.Claim], legsHere: Int,
        _ context: borrowing WorkerContext
    ) -> Int {
        let hosts = self.hosts(of: claims)
        let addressees = context.transport.isHere(path) ? hosts[...] : legsHere == 0 ? hosts.prefix(1) : []
        for host in addressees { passOn(slot, over: path, to: host, context) }
        return addressees.count
    }

    func legsHere(of claims: [PathClaims<LegPlace<MediaLeg>>.Claim]) -> [MediaLeg] {
        claims.compactMap { if case .here(let leg) = $0.place { leg } else { nil } }
    }

    /// The workers of the claims, each once, in the order of the claims.
    func hosts(of claims: [PathClaims<LegPlace<MediaLeg>>.Claim]) -> [WorkerIndex] {
        var hosts: [WorkerIndex] = []
        for claim in claims {
            if case .elsewhere(let host) = claim.place, !hosts.contains(host) { hosts.append(host) }
        }
        return hosts
    }

    // MARK: Handshakes

    func receiveContestedHandshake(
        _ slot: Int, over path: Path, _ context: inout WorkerContext
    ) {
        let claims = paths.claims(on: path)
        let legs = legsHere(of: claims)
        var isTaken = false
        // An established association ignores records that its keys do not fit.
        for leg in legs where leg.session.isEstablished || leg.dtls?.state == .established {
            if show(slot, over: path, to: leg, &context) == nil { isTaken = true }
        }
        // The leg that holds the path now may not be the one that the record belongs to.
        for leg in legs where leg.dtls == nil {
            if keep(context.transport.datagram(slot), over: path, for: leg) == nil { isTaken = true }
        }
        for leg in Self.inOrderOfHandshakes(legs, over: path) {
            // A leg whose handshake runs over another path may or may not be addressed by this record.
            let isBinding = leg.handshakeOrigin == nil || leg.handshakeOrigin == path
            if show(slot, over: path, to: leg, isBinding: isBinding, &context) == nil { return }
        }
        let hosts = passOn(slot, over: path, to: claims, legsHere: legs.count, context)
        if !isTaken, hosts == 0 { tally.drop(.notConnected) }
    }

    /// The legs with a handshake under way: first the one that started it over this path, last those that started it
    /// over another one.
    private static func inOrderOfHandshakes(_ legs: [MediaLeg], over path: Path) -> [MediaLeg] {
        let legs = legs.filter {
            $0.dtls?.state == .handshaking && ($0.session.handshakeRole != nil || $0.session.awaitsDescription)
        }
        return legs.filter { $0.handshakeOrigin == path } + legs.filter { $0.handshakeOrigin == nil }
            + legs.filter { $0.handshakeOrigin != nil && $0.handshakeOrigin != path }
    }

    /// Whether an association may send over a path. A peer that has sent a ClientHello there to another leg would
    /// reject that of the gateway.
    func mayShakeHands(_ dtls: DTLSTransport, of leg: MediaLeg, over path: Path) -> Bool {
        dtls.role == .server || !isShakingHands(asServerOver: path, besides: leg)
    }

    /// Whether an association of another leg has received a ClientHello over a path and has not finished its handshake.
    func isShakingHands(asServerOver path: Path, besides leg: MediaLeg) -> Bool {
        guard paths.holding(of: path)?.isContested == true else { return false }
        return legsHere(of: paths.claims(on: path)).contains { other in
            other !== leg && other.handshakeOrigin == path && other.dtls?.role == .server
                && other.dtls?.state == .handshaking
        }
    }

    /// The leg to which a finished handshake over a contested path belongs: the one whose description has announced its
    /// certificate; `nil` if there is none.
    func matchingLeg(of dtls: DTLSTransport, over path: Path) -> MediaLeg? {
        guard paths.holding(of: path)?.isContested == true else { return nil }
        return legsHere(of: paths.claims(on: path)).first { leg in
            leg.session.handshakeRole.map { DTLSTransport.Role($0) == dtls.role } == true
                && leg.session.awaits { dtls.peerCertificateDigest(.init($0)) }
        }
    }

    /// Hands a handshake over a contested path to another leg, because this leg ends, or because the handshake is not
    /// with its peer. The peer may be that of another leg, which continues the handshake if it has none of its own.
    /// Returns whether there is such a leg.
    ///
    /// A leg whose description is not known yet starts no handshake itself, but may take over one (`takeAssociation`).
    @discardableResult
    func reassignHandshake(of leg: MediaLeg) -> Bool {
        guard let dtls = leg.dtls, let path = leg.handshakeOrigin, paths.holding(of: path)?.isContested == true else {
            return false
        }
        let isUnderWay = dtls.state == .handshaking
        guard isUnderWay || (dtls.state == .established && leg.inbound == nil) else { return false }
        let newLeg = legsHere(of: paths.claims(on: path)).first { other in
            guard other !== leg else { return false }
            if other.session.awaitsDescription { return other.dtls == nil }
            return isUnderWay && other.dtls?.role == dtls.role && other.dtls?.state == .handshaking
                && other.handshakeOrigin == nil
                && other.session.handshakeRole != nil
        }
        guard let newLeg else { return false }
        give(dtls, of: leg, over: path, to: newLeg)
        return true
    }

    /// Moves an association to another leg.
    func give(_ dtls: DTLSTransport, of leg: MediaLeg, over path: Path, to newLeg: MediaLeg) {
        newLeg.dtls = dtls
        (newLeg.handshakeOrigin, newLeg.handshakePath) = (path, path)
        newLeg.retransmission = leg.retransmission
        leg.dtls = nil
        (leg.handshakeOrigin, leg.handshakePath) = (nil, nil)
        leg.retransmission = nil
        rearm(newLeg.call)
    }
}
