import Primitives
package import SDP

/// Whether the gateway is the SDP peer of both legs, or passes descriptions on untouched.
package enum MediaMode: Equatable, Sendable {
    /// Media goes from peer to peer.
    case direct
    /// Media is terminated by the gateway. Each leg with a peer has an identity of its own; a headless leg has none.
    case anchored(PerLeg<LegIdentity?>)
}

/// How far the media path of a leg has come; the steps are in order.
package enum MediaProgress: String, Comparable, CaseIterable, Sendable, Codable {
    /// No candidate pair has been checked.
    case waiting
    /// A checked candidate pair may carry media.
    case checked
    /// The SRTP keys are agreed.
    case secured
    /// The first media packet was received.
    case flowing

    /// Whether `a` is an earlier step than `b`.
    package static func < (a: Self, b: Self) -> Bool { a.place < b.place }

    private var place: Int {
        switch self {
        case .waiting: 0
        case .checked: 1
        case .secured: 2
        case .flowing: 3
        }
    }
}

/// The descriptions and the media path of one leg of an anchored call: an offer/answer exchange with the gateway as
/// peer (RFC 3264).
///
/// Every function that throws changes nothing if the peer's description does not fit. The errors are about the
/// description: `malformedDescription` or `unsupportedDescription`.
package struct LegMedia: Equatable, Sendable {
    /// The offer/answer state towards the peer.
    private(set) var negotiation: LegNegotiation
    /// The peer's last description, in an exchange that is complete or open.
    private(set) var described: PeerDescription?
    /// What the peer wants, as far as it has said so (see `PeerDescription.wishes`).
    private(set) var wishes: PeerDescription?
    /// The kinds of the m-lines that the peer could not take in its first answer, because it does not bundle. It can
    /// take them with one transport for each m-line (docs/adr/0007).
    private(set) var lostLines: [MediaKind] = []
    /// How far the media path has come.
    private(set) var progress = MediaProgress.waiting
    /// The peer has started anew, so that its old media path is of no use.
    private(set) var isRenewed = false
    /// Which codecs the gateway offers, prefers and transcodes.
    private let policy: MediaPolicy

    /// Makes the media of a leg whose peer has described nothing yet.
    ///
    /// - Parameter preferences: what the peer wants to receive; takes precedence over what is configured.
    package init(identity: LegIdentity, policy: MediaPolicy, preferences: MediaPreferences = MediaPreferences()) {
        negotiation = LegNegotiation(identity: identity, preferences: policy.preferences.overridden(by: preferences))
        self.policy = policy
    }

    /// No offer is open, and an offer has been answered.
    var isStable: Bool { negotiation.phase == .stable }
    /// An offer of the gateway waits for its answer.
    var isOffering: Bool { negotiation.phase == .localOffer }
    /// The ICE credentials of the gateway towards this peer.
    var credentials: ICECredentials { negotiation.identity.credentials }
    /// What the last complete exchange agreed; `nil` before the first.
    var negotiated: NegotiatedLeg? { negotiation.negotiated }
    /// What the media plane has to apply; `nil`: nothing yet.
    var agreement: NegotiatedLeg? { negotiation.agreement }

    /// Records a step of the media path. Progress never goes back: events may come late or twice.
    mutating func advance(to step: MediaProgress) { progress = max(progress, step) }

    /// What the gateway may do with the audio of this leg, as a direction seen from the gateway: that of the first
    /// audio m-line, else of the first m-line; `inactive` if there is none.
    var direction: MediaDirection {
        let media = negotiated?.media.filter { !$0.isRejected } ?? []
        return (media.first { $0.kind == .audio } ?? media.first)?.direction ?? .inactive
    }

    // MARK: The peer offers

    /// Takes an offer of the peer.
    ///
    /// - Parameter preferences: what the peer wants to receive from now on; `nil`: as before.
    /// - Returns: The offer.
    mutating func receive(
        offer text: String, wanting preferences: MediaPreferences? = nil, random: inout some RandomSource
    ) throws(CallError) -> PeerDescription {
        try CallError.fromSDP { () throws(SDPError) in try take(offer: text, wanting: preferences, random: &random) }
    }

    /// Takes an offer of the peer in place of any offer that is open.
    ///
    /// - Parameter former: the leg before the peer's last offer, if that offer crossed one of the gateway's. The peer
    ///   continues from there if it has dropped its offer.
    mutating func receive(
        newOffer text: String, instead former: LegMedia?, random: inout some RandomSource
    ) throws(CallError) -> PeerDescription {
        try CallError.fromSDP { () throws(SDPError) in try take(newOffer: text, instead: former, random: &random) }
    }

    private mutating func take(
        offer text: String, wanting preferences: MediaPreferences? = nil, random: inout some RandomSource
    ) throws(SDPError) -> PeerDescription {
        var next = self
        if let preferences { next.negotiation.preferences = policy.preferences.overridden(by: preferences) }
        let offer = try next.negotiation.read(text, as: .offer)
        if next.isStable, next.negotiation.isFromNewPeer(offer) {
            next.negotiation.startAnew(with: ICECredentials(using: &random))
            next.isRenewed = true
        }
        try next.negotiation.receiveOffer(offer)
        if next.negotiation.peerRestartsICE { next.negotiation.restartICE(with: ICECredentials(using: &random)) }
        next.described = offer
        next.wishes = offer
        self = next
        return offer
    }

    private mutating func take(
        newOffer text: String, instead former: LegMedia?, random: inout some RandomSource
    ) throws(SDPError) -> PeerDescription {
        do throws(SDPError) {
            var next = self
            next.rollback()
            let offer = try next.take(offer: text, random: &random)
            self = next
            return offer
        } catch {
            guard case .offerMismatch = error, isStable, let former else { throw error }
            var next = returned(to: former)
            next.rollback()
            let offer = try next.take(offer: text, random: &random)
            self = next
            return offer
        }
    }

    /// Makes the answer to the pending offer, on behalf of the peer of another leg.
    ///
    /// - Parameters:
    ///   - other: the description of that peer.
    ///   - isPreliminary: that peer has not seen the offer. M-lines that are unknown to it are kept open, as
    ///     `inactive`: an answer that rejects an m-line removes it for good (RFC 8829 §5.10).
    mutating func answer(
        mirroring other: PeerDescription, isPreliminary: Bool = false, random: inout some RandomSource
    ) throws(CallError) -> String {
        try CallError.fromSDP { () throws(SDPError) in
            let aligned = other.aligned(toOffer: try lastDescription(), keepingUnknown: isPreliminary)
            return try negotiation.makeAnswer(mirroring: aligned, policy: policy, random: &random).serialized
        }
    }

    /// Makes the gateway's own answer, which accepts everything that it can mix.
    mutating func answerForMixing(random: inout some RandomSource) throws(CallError) -> String {
        try CallError.fromSDP { () throws(SDPError) in
            let own = try lastDescription().opened().mixable(policy)
            return try negotiation.makeAnswer(mirroring: own, policy: policy, random: &random).serialized
        }
    }

    /// Makes the gateway's answer ahead of the final one. The gateway can send to the peer from then on; what the peer
    /// sends is not relayed yet.
    ///
    /// An m-line that the gateway has nothing for is kept open, `inactive` and with all its codecs: what a provisional
    /// answer rejects is gone for good (RFC 8829 §4.1.10.1). Throws if there is no audio that the gateway could send.
    mutating func provisionalAnswer(random: inout some RandomSource) throws(CallError) -> String {
        try CallError.fromSDP { () throws(SDPError) in
            let offer = try lastDescription()
            var own = offer.opened().mixable(policy)
            guard own.usableMedia.contains(where: { $0.kind == .audio && $0.carriesMedia }) else {
                throw .noUsableMedia(offer.media.map { $0.refusal ?? .noCodecs })
            }
            for index in own.media.indices where own.media[index].kind == .video || !own.media[index].carriesMedia {
                own.media[index].codecs = offer.media[index].codecs
                own.media[index].direction = .inactive
            }
            return try negotiation.makeProvisionalAnswer(mirroring: own, policy: policy, random: &random).serialized
        }
    }

    /// The peer's last description. Throws `wrongState` if it has described nothing.
    private func lastDescription() throws(SDPError) -> PeerDescription {
        guard let described else { throw .wrongState(negotiation.phase) }
        return described
    }

    // MARK: The gateway offers

    /// Makes an offer on behalf of the peer of another leg, whose description is `other`.
    mutating func offer(mirroring other: PeerDescription, random: inout some RandomSource) throws(CallError) -> String {
        try CallError.fromSDP { () throws(SDPError) in
            let aligned = other.aligned(to: negotiated?.media ?? [])
            return try negotiation.makeOffer(mirroring: aligned, policy: policy, random: &random).serialized
        }
    }

    /// Makes the gateway's own offer: what the peer knows and the gateway can mix.
    mutating func offerForMixing(random: inout some RandomSource) throws(CallError) -> String {
        try CallError.fromSDP { () throws(SDPError) in
            let own = try lastDescription().opened().mixable(policy).aligned(to: negotiated?.media ?? [])
            return try negotiation.makeOffer(mirroring: own, policy: policy, random: &random).serialized
        }
    }

    /// Takes the peer's answer to the offer of the gateway.
    ///
    /// - Parameter preferences: what the peer wants to receive from now on; `nil`: as before.
    /// - Returns: The answer, with the codecs that those preferences choose.
    mutating func receive(answer text: String, wanting preferences: MediaPreferences? = nil) throws(CallError)
        -> PeerDescription
    {
        var next = negotiation
        if let preferences { next.preferences = policy.preferences.overridden(by: preferences) }
        let offered = next.offeredDirections
        let isFirst = next.negotiated == nil
        let answer = try CallError.fromSDP { () throws(SDPError) in
            try next.receiveAnswer(next.read(text, as: .answer))
        }
        lostLines = isFirst ? answer.media.filter { $0.refusal == .outsideBundle }.map(\.kind) : []
        negotiation = next
        let chosen = answer.choosing(next.preferences)
        described = chosen
        wishes = chosen.wishes(answering: offered, before: wishes)
        return chosen
    }

    /// This leg as it was when `earlier` was current. What has happened on its media path since then is kept, and so
    /// are the version numbers that its descriptions have used.
    func returned(to earlier: LegMedia) -> LegMedia {
        var returned = earlier
        returned.negotiation.countOn(from: negotiation)
        (returned.progress, returned.isRenewed) = (progress, isRenewed)
        return returned
    }

    /// Drops the open offer, if there is one, whichever side made it.
    mutating func rollback() {
        // Fails only if no offer is open.
        do throws(SDPError) { try negotiation.rollback() } catch {}
    }

    /// Whether an offer describes the same media as before, so that only its transport is new: an ICE restart, or a
    /// page that was loaded again.
    func changesTransportOnly(_ offer: PeerDescription, since before: PeerDescription?) -> Bool {
        guard let before, offer.transportMedia?.transport.credentials != before.transportMedia?.transport.credentials
        else { return false }
        let shape = { (description: PeerDescription) in
            description.usableMedia.map { [$0.kind.token, $0.direction.rawValue] }
        }
        return shape(offer) == shape(before)
    }

    /// Whether the media path starts anew with the next connection; asking clears the mark and resets the progress.
    mutating func takeRenewal() -> Bool {
        defer { isRenewed = false }
        if isRenewed { progress = .waiting }
        return isRenewed
    }
}

extension CallError {
    /// Carries out a step of offer and answer. What SDP refuses is thrown as the error about the description.
    fileprivate static func fromSDP<Outcome>(_ step: () throws(SDPError) -> Outcome) throws(CallError) -> Outcome {
        do throws(SDPError) { return try step() } catch { throw CallError(error) }
    }
}

extension PeerDescription {
    /// The part of the description that the gateway can decode and mix, or relay to several legs: its audio codecs, and
    /// the one video codec that every browser has (RFC 7742 §5).
    ///
    /// The gateway takes two channels of Opus from a peer that sends them, and sends two to a peer that takes them.
    fileprivate func mixable(_ policy: MediaPolicy) -> PeerDescription {
        var mixable = self
        for index in mixable.media.indices {
            mixable.media[index].codecs = media[index].codecs.filter { codec in
                switch media[index].kind {
                case .audio: policy.canTranscode(codec) || codec.isTelephoneEvent
                case .video: codec.isNamed("VP8") || codec.isRetransmission
                case .other: false
                }
            }.map(\.withStereoReversed).withoutOrphans()
        }
        return mixable
    }
}

extension PeerMedia {
    /// Whether a codec of the m-line carries media, as opposed to events or redundancy only.
    fileprivate var carriesMedia: Bool { codecs.contains(where: \.carriesMedia) }
}

extension CallError {
    /// Makes the error for a description that was refused: malformed, or well-formed and not supported.
    init(_ error: SDPError) {
        self =
            switch error {
            case .malformedLine, .malformedSession, .malformedMedia, .limitExceeded, .offerMismatch, .answerMismatch:
                .malformedDescription(error)
            case .unsupportedLitePeer, .noUsableMedia, .wrongState, .restartNeedsCredentials:
                .unsupportedDescription(error)
            }
    }
}
