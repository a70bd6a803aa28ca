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
/// The gateway's descriptions mirror those of the other leg's peer. Payload types and header extension ids are thus the
/// same on both legs, and media is relayed without rewriting them. If the application asked for other payload types,
/// they are translated at the edge: `read` converts those of the peer into those of the call, and descriptions are
/// written with those of the leg. A command at the wrong time, or a description that does not fit, throws and leaves
/// the negotiation as it was.
package struct LegNegotiation: Equatable, Sendable {
    /// The state of the offer/answer exchange.
    package enum Phase: Equatable, Sendable {
        /// Nothing is agreed, and no offer is pending.
        case idle
        /// The gateway's offer waits for the peer's answer.
        case localOffer
        /// The peer's offer waits for the gateway's answer.
        case remoteOffer
        /// The last exchange is complete, and none is pending.
        case stable
    }

    private enum State: Equatable, Sendable {
        case idle
        case localOffer([LocalMedia])
        case remoteOffer(PeerDescription)
        case stable
    }

    /// What the gateway writes about itself into the descriptions of this leg. Its credentials change with an ICE
    /// restart.
    package private(set) var identity: LegIdentity
    /// What the peer of this leg wants to receive; applies to descriptions read from now on.
    package var preferences: MediaPreferences
    /// The payload types of this leg, settled by its first offer. A format keeps its payload type for the session
    /// (RFC 3264 §8.3.2).
    package private(set) var numbering = LegNumbering()
    /// The result of the last complete exchange, in the payload types of the call; `nil` before the first. A pending
    /// exchange does not change it.
    package private(set) var negotiated: NegotiatedLeg?
    /// The same result for the media plane, in the payload types that the peer uses.
    package var agreement: NegotiatedLeg? { negotiated?.onLeg(numbering) }
    private var state = State.idle
    /// The version in `o=` of the next description. It increases with every description made (RFC 3264 §8).
    private var version: UInt64 = 1
    /// The gateway's sources, one entry per m-line ever described, including those of offers that were rolled back.
    private var sources: [LocalSources] = []
    /// Whether the peer's last description has a BUNDLE group.
    private var peerBundles = false

    /// Makes a negotiation in the state `idle`.
    package init(identity: LegIdentity, preferences: MediaPreferences = MediaPreferences()) {
        self.identity = identity
        self.preferences = preferences
    }

    /// The state of the exchange.
    package var phase: Phase {
        switch state {
        case .idle: .idle
        case .localOffer: .localOffer
        case .remoteOffer: .remoteOffer
        case .stable: .stable
        }
    }

    /// The directions in the pending offer of the gateway, one per m-line, as the gateway sees them; empty if the
    /// gateway has no pending offer.
    package var offeredDirections: [MediaDirection] {
        guard case .localOffer(let media) = state else { return [] }
        return media.map(\.direction)
    }

    /// Takes over the description version and the sources that a later copy of this negotiation has used.
    package mutating func countOn(from later: LegNegotiation) {
        version = max(version, later.version)
        sources = later.sources
    }

    // MARK: Reading

    /// Reads a description of this leg's peer into the payload types of the call, with its preferences applied.
    ///
    /// The codecs of an answer are not narrowed to the preferences, since the peer may send every codec that it
    /// accepted. `choosing` narrows them for the other leg.
    ///
    /// - Throws: `SDPError` if the text cannot be parsed, or the value of an attribute cannot be read.
    package func read(_ text: String, as role: PeerDescription.Role) throws(SDPError) -> PeerDescription {
        let description = try PeerDescription(reading: SessionDescription(parsing: text), as: role).inCall(numbering)
            .asking(preferences)
        return role == .offer ? description.numberedApart(from: numbering).choosing(preferences) : description
    }

    // MARK: The gateway offers

    /// Makes the gateway's offer on behalf of the other leg's peer. M-line order, mids, payload types and directions
    /// are those of `other`; transport and sources are the gateway's own.
    ///
    /// An m-line that cannot be carried is left out unless the leg already has it, because clients would take it for
    /// offered media.
    ///
    /// - Throws: `.wrongState` if an offer is pending, `.noUsableMedia` if no m-line can be carried.
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
        // An m-line that the other side does not have any more stays in its place, rejected.
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

    /// Takes the peer's answer to the pending offer.
    ///
    /// - Returns: The answer as it was taken: one m-line for each offered one, refused where nothing is agreed.
    /// - Throws: `.wrongState` if the gateway has no pending offer, `.unsupportedLitePeer`, `.answerMismatch` if the
    ///   answer contradicts the offer, `.noUsableMedia` if no m-line is agreed. The offer stays pending then.
    @discardableResult
    package mutating func receiveAnswer(_ answer: PeerDescription) throws(SDPError) -> PeerDescription {
        guard case .localOffer(let media) = state else { throw .wrongState(phase) }
        let check = AnswerCheck(offered: media, answer: answer, numbering: numbering)
        let result = try check.result(first: identity.credentials, standing: negotiated)
        negotiated = result.agreement
        // A peer that rejects the first m-line of a first offer takes the transport of another m-line.
        identity.credentials = result.agreement.transport.local
        peerBundles = !answer.bundle.isEmpty
        state = .stable
        return result.answer
    }

    // MARK: The peer offers

    /// Takes the peer's offer. It is pending until `makeAnswer` or `rollback`.
    ///
    /// - Throws: `.wrongState` if an offer is pending, `.unsupportedLitePeer`, `.noUsableMedia` if no m-line can be
    ///   carried, `.offerMismatch` if an agreed m-line is missing or its media type or mid has changed.
    package mutating func receiveOffer(_ offer: PeerDescription) throws(SDPError) {
        guard phase == .idle || phase == .stable else { throw .wrongState(phase) }
        guard !offer.isLite else { throw .unsupportedLitePeer }
        guard offer.transportMedia != nil else { throw .noUsableMedia(offer.media.compactMap(\.refusal)) }
        guard offer.media.count >= agreedMediaCount else {
            throw .offerMismatch(media: nil, .fewerMedia(count: offer.media.count, agreed: agreedMediaCount))
        }
        for (section, known) in zip(offer.media, negotiated?.media ?? []) where !known.isRejected {
            guard section.kind == known.kind else {
                throw .offerMismatch(media: section.index, .changedKind)
            }
            guard section.mid == known.mid else { throw .offerMismatch(media: section.index, .changedMid) }
        }
        for (mid, own) in offer.numberings { numbering[mid] = own }
        state = .remoteOffer(offer)
    }

    /// Makes the gateway's answer to the pending offer: the answer of the other leg's peer, as far as this peer offered
    /// it.
    ///
    /// - Throws: `.wrongState` if the peer has no pending offer, `.restartNeedsCredentials` if the offer restarts ICE
    ///   and `restartICE(with:)` was not called, `.noUsableMedia` if no m-line is agreed.
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

    /// Makes an answer ahead of the final one, for early media. The offer stays pending, and the final answer uses the
    /// same transport and sources (RFC 8829 §4.1.10.1).
    ///
    /// - Throws: The errors of `makeAnswer`.
    package mutating func makeProvisionalAnswer(
        mirroring other: PeerDescription, policy: MediaPolicy, random: inout some RandomSource
    ) throws(SDPError) -> SessionDescription {
        let pending = state
        let answer = try makeAnswer(mirroring: other, policy: policy, random: &random)
        state = pending
        return answer
    }

    // MARK: Either way

    /// Drops the pending offer of either side. The leg is as it was before (RFC 8829 §4.1.10.2).
    ///
    /// - Throws: `.wrongState` if no offer is pending.
    package mutating func rollback() throws(SDPError) {
        switch state {
        case .idle, .stable: throw .wrongState(phase)
        case .localOffer, .remoteOffer: break
        }
        if let negotiated { identity.credentials = negotiated.transport.local }
        state = negotiated == nil ? .idle : .stable
    }

    /// Whether the pending offer of the peer restarts ICE on the first transport: ufrag and password are both new
    /// (RFC 8839 §4.4.1.1.1). `restartICE(with:)` must then come before `makeAnswer`.
    package var peerRestartsICE: Bool {
        guard case .remoteOffer(let offer) = state, let negotiated else { return false }
        let isCarried: (Int) -> Bool = { offer.media[$0].refusal == nil }
        let numbers = offer.transportNumbers(agreed: negotiated.media, isCarried: isCarried)
        let tagged = offer.taggedLine(of: .first, in: numbers, isCarried: isCarried)
        guard let offered = tagged.flatMap({ offer.media[$0].transport.credentials }) else { return false }
        return negotiated.transport.isRestarted(by: offered)
    }

    /// Sets the gateway's credentials of the first transport for the descriptions that follow.
    package mutating func restartICE(with credentials: ICECredentials) { identity.credentials = credentials }

    /// Whether this offer comes from a peer that started anew, such as a reloaded page: both ufrag and fingerprints of
    /// its transport differ from the agreed ones. It is `false` if nothing is agreed.
    package func isFromNewPeer(_ offer: PeerDescription) -> Bool {
        guard let negotiated, let line = offer.transportMedia else { return false }
        let isKnown = line.index < negotiated.media.count && !negotiated.media[line.index].isRejected
        let agreed = isKnown ? negotiated.transport(negotiated.media[line.index].transport) : nil
        return isFrom(line.transport, otherThan: agreed ?? negotiated.transport)
    }

    private func isFrom(_ offered: PeerTransport, otherThan agreed: NegotiatedTransport) -> Bool {
        return offered.credentials?.ufrag != agreed.remote.ufrag && offered.fingerprints != agreed.remoteFingerprints
    }

    /// Forgets what was agreed, for a peer that starts anew. The gateway's sources stay, and its description versions
    /// continue.
    package mutating func startAnew(with credentials: ICECredentials) {
        identity.credentials = credentials
        negotiated = nil
        peerBundles = false
        state = .idle
    }
}

// MARK: - Parts

extension LegNegotiation {
    /// The number of m-lines of the session. It never decreases (RFC 3264 §8).
    private var agreedMediaCount: Int { negotiated?.media.count ?? 0 }

    /// Settles the payload types of the leg in its first offer, as the application wants them. Codecs that the
    /// renumbering would break are removed.
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

    /// The protocol for an offered m-line. RTP always has the form of RFC 8829 §5.2.1, even if the other leg's peer
    /// used an older one.
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

    /// The session-level attributes. Credentials, fingerprint and role stand here and in every carried m-line, because
    /// some agents look for them in rejected m-lines (aiortc) or replace port 0 by another (FCS), and then find them
    /// here.
    private func sessionAttributes(setup: SetupRole, groups: [[String]]) -> [Attribute] {
        groups.map { Attribute("group", (["BUNDLE"] + $0).joined(separator: " ")) } + [
            Attribute("ice-lite"),
            Attribute("ice-options", "ice2"),
        ] + identity.transportAttributes(setup: setup) + [
            // Agents older than RFC 8830 look for msid only if this attribute is present.
            Attribute("msid-semantic", "WMS *")
        ]
    }
}
