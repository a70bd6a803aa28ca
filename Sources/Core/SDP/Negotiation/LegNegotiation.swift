package import Primitives

/// The offer/answer exchange of one leg (RFC 3264 §4, RFC 8829 §3.2), with the gateway as SDP peer.
///
///                      makeOffer                      receiveOffer
///     localOffer  ◀──────────────  idle or stable  ──────────────▶  remoteOffer
///         │                            ▲     ▲                           │
///         │  receiveAnswer → stable    │     │    makeAnswer → stable    │
///         ├────────────────────────────┘     └───────────────────────────┤
///         └─ rollback → as before                   rollback → as before ┘
///
/// What the gateway says mirrors what the peer of the other leg said, so payload types and header extension ids are the
/// same on both legs and media can be relayed without rewriting them. Where the application asked for other payload types, they
/// are translated at the edge: `read` turns the peer's into those of the call, descriptions are written with the leg's. Commands that come at the wrong time, and
/// descriptions that do not fit, throw and leave the negotiation as it was.
package struct LegNegotiation: Equatable, Sendable {
    /// Where the exchange stands.
    package enum Phase: Equatable, Sendable {
        case idle
        case localOffer
        case remoteOffer
        case stable
    }

    private enum State: Equatable, Sendable {
        case idle
        case localOffer([LocalMedia])
        case remoteOffer(PeerDescription)
        case stable
    }

    package private(set) var identity: LegIdentity
    /// What the peer of this leg wants to receive; counts for what it says from now on.
    package var preferences: MediaPreferences
    /// The numbers of this leg, settled by its first offer: a format keeps its number for the session (RFC 3264 §8.3.2).
    package private(set) var numbering = LegNumbering()
    /// The result of the last complete exchange, in the payload types of the call; a pending one does not touch it.
    package private(set) var negotiated: NegotiatedLeg?
    /// The same for the media plane: in the payload types that the peer uses.
    package var agreement: NegotiatedLeg? { negotiated?.onLeg(numbering) }
    private var state = State.idle
    /// The version of `o=` of the next description; goes up with every one made (RFC 3264 §8).
    private var version: UInt64 = 1
    /// One entry per m-line ever described, those of offers that came to nothing included.
    private var sources: [LocalSources] = []
    /// The peer's last description has a BUNDLE group.
    private var peerBundles = false

    package init(identity: LegIdentity, preferences: MediaPreferences = MediaPreferences()) {
        self.identity = identity
        self.preferences = preferences
    }

    package var phase: Phase {
        switch state {
        case .idle: .idle
        case .localOffer: .localOffer
        case .remoteOffer: .remoteOffer
        case .stable: .stable
        }
    }

    /// What the open offer of the gateway says of each m-line, as the gateway sees it; empty if none is open.
    package var offeredDirections: [MediaDirection] {
        guard case .localOffer(let media) = state else { return [] }
        return media.map(\.direction)
    }

    /// Takes over the versions and the sources that another state of this negotiation has used since.
    package mutating func countOn(from later: LegNegotiation) {
        version = max(version, later.version)
        sources = later.sources
    }

    // MARK: Reading

    /// What the peer of this leg says, in the payload types of the call, with its preferences put in.
    ///
    /// The codecs of an answer are those it has: what it accepted it may send. `choosing` narrows it down for the other leg.
    package func read(_ text: String, as role: PeerDescription.Role) throws(SDPError) -> PeerDescription {
        let description = try PeerDescription(reading: SessionDescription(parsing: text), as: role).inCall(numbering)
            .asking(preferences)
        return role == .offer ? description.numberedApart(from: numbering).choosing(preferences) : description
    }

    // MARK: The gateway offers

    /// The gateway's offer on behalf of the other leg's peer: same m-line order, mids, payload types and directions as in
    /// `other`, with the gateway's own transport and sources. An m-line that cannot be carried is left out where the leg does not know it
    /// yet: clients would take it for something they are offered.
    package mutating func makeOffer(
        mirroring other: PeerDescription, policy: MediaPolicy, random: inout some RandomSource
    ) throws(SDPError) -> SessionDescription {
        guard phase == .idle || phase == .stable else { throw .wrongState(phase) }
        var next = self
        var media: [LocalMedia] = []
        var taken = PayloadTypeSet(other.media.flatMap(\.codecs).map(\.payloadType))
        for section in other.media where media.count < agreedMediaCount || policy.canCarry(section) {
            let sources = next.sources(for: section, at: media.count, avoiding: other, random: &random)
            var local = LocalMedia(
                mirroring: section, policy: policy, transportProtocol: Self.transportProtocol(for: section),
                sources: sources)
            local.addTranscodable(policy, taken: &taken)
            media.append(local)
        }
        media.offerAudioLevels(policy, mirroring: other, standing: negotiated)
        media.offerTransportFeedback(policy, mirroring: other, standing: negotiated)
        // An m-line that the other side does not know any more stays in its place, rejected.
        for gone in sources.prefix(agreedMediaCount).dropFirst(media.count) { media.append(LocalMedia(gone: gone)) }
        guard media.contains(where: { !$0.isRejected }) else {
            throw .noUsableMedia(other.media.map { $0.refusal ?? .noCodecs })
        }
        media.chooseCredentials(standing: negotiated, peerBundles: peerBundles, random: &random)
        next.settleNumbers(in: &media, wanted: other.payloadNumbers)
        next.state = .localOffer(media)
        let offer = next.describe(media, groups: media.groupsOfOffer(to: negotiated), isOffer: true)
        self = next
        return offer
    }

    /// The peer's answer to the pending offer.
    ///
    /// - Returns: The answer as it was taken: with one m-line for each offered one, refused where nothing is agreed.
    @discardableResult
    package mutating func receiveAnswer(_ answer: PeerDescription) throws(SDPError) -> PeerDescription {
        guard case .localOffer(let media) = state else { throw .wrongState(phase) }
        let check = AnswerCheck(offered: media, answer: answer, numbering: numbering)
        let result = try check.result(first: identity.credentials, standing: negotiated)
        negotiated = result.agreement
        // A peer that has rejected the first m-line of a first offer has taken another one's transport.
        identity.credentials = result.agreement.transport.local
        peerBundles = !answer.bundle.isEmpty
        state = .stable
        return result.answer
    }

    // MARK: The peer offers

    /// The peer's offer; it stays pending until `makeAnswer` or `rollback`.
    package mutating func receiveOffer(_ offer: PeerDescription) throws(SDPError) {
        guard phase == .idle || phase == .stable else { throw .wrongState(phase) }
        guard !offer.isLite else { throw .unsupportedLitePeer }
        guard offer.transportMedia != nil else { throw .noUsableMedia(offer.media.compactMap(\.refusal)) }
        guard offer.media.count >= agreedMediaCount else {
            throw .offerMismatch(
                media: nil, "it has \(offer.media.count) m-lines, and there were \(agreedMediaCount) (RFC 3264 §8)")
        }
        for (section, known) in zip(offer.media, negotiated?.media ?? []) where !known.isRejected {
            guard section.kind == known.kind else {
                throw .offerMismatch(media: section.index, "its media type has changed")
            }
            guard section.mid == known.mid else { throw .offerMismatch(media: section.index, "its a=mid has changed") }
        }
        for (mid, own) in offer.numberings { numbering[mid] = own }
        state = .remoteOffer(offer)
    }

    /// The gateway's answer to the pending offer: what the other leg's peer answered, as far as this peer offered it.
    package mutating func makeAnswer(
        mirroring other: PeerDescription, policy: MediaPolicy, random: inout some RandomSource
    ) throws(SDPError) -> SessionDescription {
        guard case .remoteOffer(let offer) = state else { throw .wrongState(phase) }
        guard !peerRestartsICE || identity.credentials != negotiated?.transport.local else {
            throw .restartNeedsCredentials
        }
        var next = self
        var media: [LocalMedia] = []
        for section in offer.media {
            let sources = next.sources(for: section, at: section.index, avoiding: offer, random: &random)
            let answered = section.index < other.media.count ? other.media[section.index] : nil
            media.append(LocalMedia(answering: section, mirroring: answered, policy: policy, sources: sources))
        }
        media.spread(answering: offer, standing: negotiated)
        media.answerAudioLevels(policy, to: offer)
        media.answerTransportFeedback(policy, to: offer)
        let transports = media.settleTransports(
            answering: offer, first: identity.credentials, standing: negotiated, random: &random)
        guard let transports else {
            throw .noUsableMedia(
                zip(offer.media, media).map { offered, said in
                    offered.refusal ?? (said.isRejected ? .disabledByPeer : .noCodecs)
                })
        }
        next.negotiated = NegotiatedLeg(transports, media: zip(media, offer.media).map { $0.agreement(answering: $1) })
        next.peerBundles = !offer.bundle.isEmpty
        next.state = .stable
        let groups = offer.groups.map { group in group.filter { !media[$0].isRejected } }.filter { !$0.isEmpty }
        let answer = next.describe(media, groups: groups, isOffer: false)
        self = next
        return answer
    }

    /// An answer ahead of the final one, so that the peer hears something meanwhile: the offer stays pending, and the final answer
    /// goes on with the same transport and sources (RFC 8829 §4.1.10.1).
    package mutating func makeProvisionalAnswer(
        mirroring other: PeerDescription, policy: MediaPolicy, random: inout some RandomSource
    ) throws(SDPError) -> SessionDescription {
        let pending = state
        let answer = try makeAnswer(mirroring: other, policy: policy, random: &random)
        state = pending
        return answer
    }

    // MARK: Either way

    /// Drops the pending offer, whoever made it; the leg is as it was before (RFC 8829 §4.1.10.2).
    package mutating func rollback() throws(SDPError) {
        switch state {
        case .idle, .stable: throw .wrongState(phase)
        case .localOffer, .remoteOffer: break
        }
        if let negotiated { identity.credentials = negotiated.transport.local }
        state = negotiated == nil ? .idle : .stable
    }

    /// Whether the pending offer of the peer restarts ICE on the first transport: both its ufrag and its password are new
    /// (RFC 8839 §4.4.1.1.1). Then `restartICE(with:)` must come before `makeAnswer`.
    package var peerRestartsICE: Bool {
        guard case .remoteOffer(let offer) = state, let negotiated else { return false }
        let isCarried: (Int) -> Bool = { offer.media[$0].refusal == nil }
        let numbers = offer.transportNumbers(agreed: negotiated.media, isCarried: isCarried)
        let tagged = offer.taggedLine(of: .first, in: numbers, isCarried: isCarried)
        guard let offered = tagged.flatMap({ offer.media[$0].transport.credentials }) else { return false }
        return negotiated.transport.isRestarted(by: offered)
    }

    /// Takes new credentials for the descriptions that follow.
    package mutating func restartICE(with credentials: ICECredentials) { identity.credentials = credentials }

    /// Whether this offer comes from a peer that began anew, a page that was loaded again for example: nothing of its transport is
    /// what was agreed.
    package func isFromNewPeer(_ offer: PeerDescription) -> Bool {
        guard let negotiated, let line = offer.transportMedia else { return false }
        let isKnown = line.index < negotiated.media.count && !negotiated.media[line.index].isRejected
        let agreed = isKnown ? negotiated.transport(negotiated.media[line.index].transport) : nil
        return isFrom(line.transport, otherThan: agreed ?? negotiated.transport)
    }

    private func isFrom(_ offered: PeerTransport, otherThan agreed: NegotiatedTransport) -> Bool {
        return offered.credentials?.ufrag != agreed.remote.ufrag && offered.fingerprints != agreed.remoteFingerprints
    }

    /// Forgets what was agreed; the peer begins anew. The gateway's sources stay, and its versions count on.
    package mutating func beginAnew(with credentials: ICECredentials) {
        identity.credentials = credentials
        negotiated = nil
        peerBundles = false
        state = .idle
    }
}

// MARK: - Parts

extension LegNegotiation {
    /// The m-lines of the session; they never go away (RFC 3264 §8).
    private var agreedMediaCount: Int { negotiated?.media.count ?? 0 }

    /// Gives the codecs of the first offer the numbers that are wanted for them, and takes out what a change would break.
    private mutating func settleNumbers(in media: inout [LocalMedia], wanted: [PayloadNumber]) {
        if negotiated == nil {
            numbering.common = PayloadNumbering(assigning: wanted, to: media.flatMap { $0.isRejected ? [] : $0.codecs })
        }
        guard !numbering.isIdentity else { return }
        for index in media.indices {
            let own = numbering[media[index].mid]
            media[index].codecs = media[index].codecs.filter { !own.breaksRedundancy($0) }.withoutOrphans()
        }
    }

    /// The sources of an m-line: the known ones, or newly drawn ones for a new or recycled m-line.
    private mutating func sources(
        for media: PeerMedia, at index: Int, avoiding description: PeerDescription, random: inout some RandomSource
    ) -> LocalSources {
        if index < sources.count, sources[index].mid == media.mid, sources[index].kind == media.kind {
            return sources[index]
        }
        var taken = Set(sources.flatMap { [$0.ssrc, $0.retransmission] })
        for source in description.media.flatMap(\.sources) {
            taken.formUnion([source.ssrc, source.retransmission].compactMap(\.self))
        }
        func draw() -> SSRC {
            while true {
                let ssrc = SSRC(random.nextUInt32())
                if ssrc.rawValue != 0, taken.insert(ssrc).inserted { return ssrc }
            }
        }
        let drawn = LocalSources(mid: media.mid, kind: media.kind, ssrc: draw(), retransmission: draw())
        if index < sources.count { sources[index] = drawn } else { sources.append(drawn) }
        return drawn
    }

    /// RTP is always offered in the form of RFC 8829 §5.2.1, whatever older form the other leg used.
    private static func transportProtocol(for media: PeerMedia) -> String {
        media.kind.isRelayed ? "UDP/TLS/RTP/SAVPF" : media.transportProtocol
    }

    private mutating func describe(_ media: [LocalMedia], groups: [[Int]], isOffer: Bool) -> SessionDescription {
        var session = SessionDescription(origin: Origin(sessionID: identity.sessionID, version: version))
        version += 1
        let first = media.first { !$0.isRejected && $0.transport == .first } ?? media.first { !$0.isRejected }
        let names = groups.map { $0.map { media[$0].mid } }
        session.attributes = sessionAttributes(setup: first?.setup ?? .actpass, groups: names)
        session.media = media.enumerated().map { index, section in
            let isBehind = groups.contains { $0.contains(index) && $0.first != index }
            let isAlternative = isOffer && section.credentials != nil
            let placement: LocalMedia.Placement =
                section.isRejected ? .rejected : isBehind && !isAlternative ? .bundled : .tagged
            var description = section.description(placement, identity: identity, isOffer: isOffer)
            numbering[section.mid].apply(to: &description)
            return description
        }
        for (index, section) in media.enumerated()
        where !section.isRejected && section.direction.sends && index < sources.count {
            sources[index].areAnnounced = true
        }
        return session
    }

    /// The credentials, the fingerprint and the role stand here as well as in every m-line that is carried: some agents look for them
    /// in rejected m-lines (aiortc), or turn port 0 into another (FCS), and find them here.
    private func sessionAttributes(setup: SetupRole, groups: [[String]]) -> [Attribute] {
        groups.map { Attribute("group", (["BUNDLE"] + $0).joined(separator: " ")) } + [
            Attribute("ice-lite"),
            Attribute("ice-options", "ice2"),
        ] + identity.transportAttributes(setup: setup) + [
            // Agents older than RFC 8830 look for msid only when this is there.
            Attribute("msid-semantic", "WMS *")
        ]
    }
}

extension LegNegotiation.Phase {
    /// What stands in the way, as a sentence.
    var hindrance: String {
        switch self {
        case .idle: "no offer has been made on this leg"
        case .localOffer: "an offer of the gateway waits for its answer on this leg"
        case .remoteOffer: "an offer of the peer waits for its answer on this leg"
        case .stable: "no offer is pending on this leg"
        }
    }
}
