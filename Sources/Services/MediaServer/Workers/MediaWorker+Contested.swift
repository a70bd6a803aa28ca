internal import DTLS
internal import MediaPlane
internal import Observability
internal import Primitives
internal import SDP

/// Paths that several legs claim, because somebody has forged a check, or because a peer has got an address that another one had.
///
/// Keys decide: a packet is tried with those of each leg that claims the path, the owner's first (at most `PathClaims.maximumClaims`). A
/// handshake has no keys yet. It is carried on by one of the legs, and is in the end the leg's whose description announced the certificate.
extension MediaWorker {
    /// Takes a packet for the first leg whose keys fit.
    func receiveContested(
        _ slot: Int, _ kind: ProtectedKind, over path: Path, _ transport: inout PacketTransport, at now: MonotonicTime
    ) {
        let claims = paths.claims(on: path)
        let legs = legsHere(of: claims)
        // Before it is changed in its slot.
        let hosts = passOn(slot, over: path, to: claims, legsHere: legs.count, transport)
        guard !legs.isEmpty else { return }
        countReceived(kind, bytes: transport.count(slot))
        let sealed = [UInt8](copying: transport.datagram(slot))
        var refusal: PacketRefusal?
        for leg in legs {
            do throws(PacketRefusal) {
                let plain = try open(slot, kind, of: leg, &transport, at: now)
                if claims[0].leg != leg.number || !claims[0].isProven { prove(path, by: leg, bytes: sealed.count) }
                noteLife(of: leg, over: path, &transport, at: now)
                switch kind {
                case .media: return mediaReceived(slot, count: plain, of: leg, &transport, at: now)
                case .control: return controlReceived(slot, count: plain, over: path, of: leg, &transport, at: now)
                }
            } catch {
                noteRepetition(error, of: leg, over: path, &transport, at: now)
                refusal = refusal ?? error
            }
            restore(sealed, in: slot, &transport)
        }
        if let refusal, hosts == 0 { count(refusal) }
    }

    /// Deciphering may have changed it before the tag was found to be wrong.
    func restore(_ sealed: [UInt8], in slot: Int, _ transport: inout PacketTransport) {
        var packet = transport.slot(slot)
        for index in sealed.indices { packet[index] = sealed[index] }
    }

    func countReceived(_ kind: ProtectedKind, bytes: Int) {
        switch kind {
        case .media: tally.received(bytes: bytes)
        case .control: tally.controlReceived += 1
        }
    }

    /// Passes a packet on to workers that have legs with a claim; returns to how many.
    ///
    /// The worker that has the socket knows of all of them. Another one has been passed the packet for a leg of its own, and passes it on
    /// only if that leg has left: so no packet goes round in circles.
    private func passOn(
        _ slot: Int, over path: Path, to claims: [PathClaims<LegPlace<MediaLeg>>.Claim], legsHere: Int,
        _ transport: borrowing PacketTransport
    ) -> Int {
        let hosts = self.hosts(of: claims)
        let addressees = transport.isHere(path) ? hosts[...] : legsHere == 0 ? hosts.prefix(1) : []
        for host in addressees { passOn(slot, over: path, to: host, transport) }
        return addressees.count
    }

    func legsHere(of claims: [PathClaims<LegPlace<MediaLeg>>.Claim]) -> [MediaLeg] {
        claims.compactMap { if case .here(let leg) = $0.place { leg } else { nil } }
    }

    /// Each once, in the order of the claims.
    func hosts(of claims: [PathClaims<LegPlace<MediaLeg>>.Claim]) -> [WorkerIndex] {
        var hosts: [WorkerIndex] = []
        for claim in claims {
            if case .elsewhere(let host) = claim.place, !hosts.contains(host) { hosts.append(host) }
        }
        return hosts
    }

    // MARK: Handshakes

    func receiveContestedHandshake(
        _ slot: Int, over path: Path, _ transport: inout PacketTransport, at now: MonotonicTime
    ) {
        let claims = paths.claims(on: path)
        let legs = legsHere(of: claims)
        var isTaken = false
        // An association that stands passes over whatever its keys do not fit.
        for leg in legs where leg.session.isEstablished || leg.dtls?.state == .established {
            if show(slot, over: path, to: leg, &transport, at: now) == nil { isTaken = true }
        }
        // Whoever has it now may not be whose it is.
        for leg in legs where leg.dtls == nil {
            if keep(transport.datagram(slot), over: path, for: leg) == nil { isTaken = true }
        }
        for leg in Self.inOrderOfHandshakes(legs, over: path) {
            // One that goes on elsewhere may have to do with this record, or not.
            let isBinding = leg.handshakeOrigin == nil || leg.handshakeOrigin == path
            if show(slot, over: path, to: leg, isBinding: isBinding, &transport, at: now) == nil { return }
        }
        let hosts = passOn(slot, over: path, to: claims, legsHere: legs.count, transport)
        if !isTaken, hosts == 0 { tally.drop(.notConnected) }
    }

    /// Legs with a handshake under way: first the one that has begun it over this path, last those that have elsewhere.
    private static func inOrderOfHandshakes(_ legs: [MediaLeg], over path: Path) -> [MediaLeg] {
        let legs = legs.filter {
            $0.dtls?.state == .handshaking && ($0.session.handshakeRole != nil || $0.session.awaitsDescription)
        }
        return legs.filter { $0.handshakeOrigin == path } + legs.filter { $0.handshakeOrigin == nil }
            + legs.filter { $0.handshakeOrigin != nil && $0.handshakeOrigin != path }
    }

    /// Whether an association may speak over a path: a peer that has said ClientHello there to another leg would take ours for nonsense.
    func mayShakeHands(_ dtls: DTLSTransport, of leg: MediaLeg, over path: Path) -> Bool {
        dtls.role == .server || !isShakingHands(asServerOver: path, besides: leg)
    }

    /// Whether an association of another leg has been said ClientHello to over a path, and is not through.
    func isShakingHands(asServerOver path: Path, besides leg: MediaLeg) -> Bool {
        guard paths.holding(of: path)?.isContested == true else { return false }
        return legsHere(of: paths.claims(on: path)).contains { other in
            other !== leg && other.handshakeOrigin == path && other.dtls?.role == .server
                && other.dtls?.state == .handshaking
        }
    }

    /// Of the legs that claim a contested path, the one whose description announced the certificate of a handshake that is through.
    func rightfulLeg(of dtls: DTLSTransport, over path: Path) -> MediaLeg? {
        guard paths.holding(of: path)?.isContested == true else { return nil }
        return legsHere(of: paths.claims(on: path)).first { leg in
            leg.session.handshakeRole.map { DTLSTransport.Role($0) == dtls.role } == true
                && leg.session.awaits { dtls.peerCertificateDigest(.init($0)) }
        }
    }

    /// The leg is about to go, in the middle of a handshake over a contested path, or is not whom the handshake was
    /// with. The peer at its other end may be another leg's: that one carries it on if it has none of its own. Returns
    /// whether there is such a leg.
    ///
    /// One whose description is not known yet answers nothing by itself, but has what others have begun
    /// (`takeAssociation`).
    @discardableResult
    func bequeathHandshake(of leg: MediaLeg) -> Bool {
        guard let dtls = leg.dtls, let path = leg.handshakeOrigin, paths.holding(of: path)?.isContested == true else {
            return false
        }
        let isUnderWay = dtls.state == .handshaking
        guard isUnderWay || (dtls.state == .established && leg.inbound == nil) else { return false }
        let heir = legsHere(of: paths.claims(on: path)).first { other in
            guard other !== leg else { return false }
            if other.session.awaitsDescription { return other.dtls == nil }
            return isUnderWay && other.dtls?.role == dtls.role && other.dtls?.state == .handshaking
                && other.handshakeOrigin == nil
                && other.session.handshakeRole != nil
        }
        guard let heir else { return false }
        give(dtls, of: leg, over: path, to: heir)
        return true
    }

    /// The association is the other's from now on.
    func give(_ dtls: DTLSTransport, of leg: MediaLeg, over path: Path, to heir: MediaLeg) {
        heir.dtls = dtls
        (heir.handshakeOrigin, heir.handshakePath) = (path, path)
        heir.retransmission = leg.retransmission
        leg.dtls = nil
        (leg.handshakeOrigin, leg.handshakePath) = (nil, nil)
        leg.retransmission = nil
        rearm(heir.call)
    }
}
