import Primitives
package import SDP

/// Whether the gateway is the peer of both ends' descriptions, or passes them on untouched.
package enum MediaMode: Equatable, Sendable {
    /// Media goes from peer to peer.
    case direct
    /// Media is terminated here; each leg has an identity of its own.
    case anchored(PerLeg<LegIdentity>)
}

/// How far a leg's media path has come.
package enum MediaProgress: Int, Comparable, Sendable {
    case waiting
    /// A checked pair may carry media.
    case checked
    /// Keys are agreed.
    case secured
    /// The first media packet came in.
    case flowing

    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// The descriptions and the media path of one leg of an anchored call: an offer/answer exchange with the gateway as peer (RFC 3264).
///
/// Everything throws and changes nothing if what the peer said does not fit.
struct LegMedia: Equatable, Sendable {
    private(set) var negotiation: LegNegotiation
    /// What the peer said last, in an exchange that was completed or is open.
    private(set) var described: PeerDescription?
    /// What the peer wants, as far as it has said so (see `PeerDescription.wishes`).
    private(set) var wishes: PeerDescription?
    /// The kinds of the m-lines that the peer could not take in its first answer, because it does not bundle. With transports of their
    /// own it can (docs/adr/0007).
    private(set) var lostLines: [MediaKind] = []
    private(set) var progress = MediaProgress.waiting
    /// The peer began anew, and its old media path is of no use any more.
    private(set) var isRenewed = false
    private let policy: MediaPolicy

    /// - Parameter preferences: what the peer wants to receive, over what is configured.
    init(identity: LegIdentity, policy: MediaPolicy, preferences: MediaPreferences = MediaPreferences()) {
        negotiation = LegNegotiation(identity: identity, preferences: policy.preferences.overridden(by: preferences))
        self.policy = policy
    }

    /// No offer is open, and there has been an answer.
    var isStable: Bool { negotiation.phase == .stable }
    /// An offer of the gateway waits for its answer.
    var isOffering: Bool { negotiation.phase == .localOffer }
    var credentials: ICECredentials { negotiation.identity.credentials }
    var negotiated: NegotiatedLeg? { negotiation.negotiated }
    /// For the media plane.
    var agreement: NegotiatedLeg? { negotiation.agreement }

    /// Progress never goes back; events may come late or twice.
    mutating func advance(to step: MediaProgress) { progress = max(progress, step) }

    /// What the gateway may do with the audio of this leg, seen from the gateway.
    var direction: MediaDirection {
        let media = negotiated?.media.filter { !$0.isRejected } ?? []
        return (media.first { $0.kind == .audio } ?? media.first)?.direction ?? .inactive
    }

    // MARK: The peer offers

    /// - Parameter preferences: what the peer wants to receive from now on; `nil`: what it wanted before.
    mutating func receive(
        offer text: String, wanting preferences: MediaPreferences? = nil, random: inout some RandomSource
    ) throws(SDPError) -> PeerDescription {
        var next = self
        if let preferences { next.negotiation.preferences = policy.preferences.overridden(by: preferences) }
        let offer = try next.negotiation.read(text, as: .offer)
        if next.isStable, next.negotiation.isFromNewPeer(offer) {
            next.negotiation.beginAnew(with: ICECredentials(using: &random))
            next.isRenewed = true
        }
        try next.negotiation.receiveOffer(offer)
        if next.negotiation.peerRestartsICE { next.negotiation.restartICE(with: ICECredentials(using: &random)) }
        next.described = offer
        next.wishes = offer
        self = next
        return offer
    }

    /// An offer in place of any that is open.
    ///
    /// - Parameter former: The leg before the peer's last offer, which has met one of the gateway's. The peer goes on from there if it has
    ///   put its offer aside.
    mutating func receive(
        newOffer text: String, instead former: LegMedia?, random: inout some RandomSource
    ) throws(SDPError) -> PeerDescription {
        do throws(SDPError) {
            var next = self
            next.rollback()
            let offer = try next.receive(offer: text, random: &random)
            self = next
            return offer
        } catch {
            guard case .offerMismatch = error, isStable, let former else { throw error }
            var next = returned(to: former)
            next.rollback()
            let offer = try next.receive(offer: text, random: &random)
            self = next
            return offer
        }
    }

    /// The answer to the pending offer, on behalf of another leg's peer that said `other`.
    ///
    /// - Parameter isPreliminary: The other peer has not seen the offer. M-lines that it knows nothing of are kept open, `inactive`:
    ///   an answer that rejects one takes it away for good (RFC 8829 §5.10).
    mutating func answer(
        mirroring other: PeerDescription, isPreliminary: Bool = false, random: inout some RandomSource
    ) throws(SDPError) -> String {
        guard let offer = described else { throw .wrongState(negotiation.phase) }
        let aligned = other.aligned(toOffer: offer, keepingUnknown: isPreliminary)
        return try negotiation.makeAnswer(mirroring: aligned, policy: policy, random: &random).serialized
    }

    /// The answer of the gateway itself, which takes whatever it can mix.
    mutating func answerForMixing(random: inout some RandomSource) throws(SDPError) -> String {
        guard let offer = described else { throw .wrongState(negotiation.phase) }
        let own = offer.opened().mixable(policy)
        return try negotiation.makeAnswer(mirroring: own, policy: policy, random: &random).serialized
    }

    /// The gateway's answer ahead of the final one: it can be sent to, and what it sends is not heard yet.
    ///
    /// An m-line that the gateway has nothing for is kept open, `inactive` and with all its codecs: what a provisional answer rejects is
    /// gone for good (RFC 8829 §4.1.10.1). Throws if there is no audio that the gateway could send.
    mutating func provisionalAnswer(random: inout some RandomSource) throws(SDPError) -> String {
        guard let offer = described else { throw .wrongState(negotiation.phase) }
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

    // MARK: The gateway offers

    /// An offer on behalf of another leg's peer that said `other`.
    mutating func offer(mirroring other: PeerDescription, random: inout some RandomSource) throws(SDPError) -> String {
        let aligned = other.aligned(to: negotiated?.media ?? [])
        return try negotiation.makeOffer(mirroring: aligned, policy: policy, random: &random).serialized
    }

    /// An offer of the gateway itself, of what the peer knows and the gateway can mix.
    mutating func offerForMixing(random: inout some RandomSource) throws(SDPError) -> String {
        guard let described else { throw .wrongState(negotiation.phase) }
        let own = described.opened().mixable(policy).aligned(to: negotiated?.media ?? [])
        return try negotiation.makeOffer(mirroring: own, policy: policy, random: &random).serialized
    }

    /// - Parameter preferences: what the peer wants to receive from now on; `nil`: what it wanted before.
    /// - Returns: What it says to others.
    mutating func receive(answer text: String, wanting preferences: MediaPreferences? = nil) throws(SDPError)
        -> PeerDescription
    {
        var next = negotiation
        if let preferences { next.preferences = policy.preferences.overridden(by: preferences) }
        let offered = next.offeredDirections
        let isFirst = next.negotiated == nil
        let answer = try next.receiveAnswer(next.read(text, as: .answer))
        lostLines = isFirst ? answer.media.filter { $0.refusal == .outsideBundle }.map(\.kind) : []
        negotiation = next
        let chosen = answer.choosing(next.preferences)
        described = chosen
        wishes = chosen.wishes(answering: offered, before: wishes)
        return chosen
    }

    /// This leg as it was when `earlier` was current. What has happened on its media path since then stays, and so do the numbers
    /// that its descriptions have used up.
    func returned(to earlier: LegMedia) -> LegMedia {
        var returned = earlier
        returned.negotiation.countOn(from: negotiation)
        (returned.progress, returned.isRenewed) = (progress, isRenewed)
        return returned
    }

    /// Drops the offer that is open, if one is, whoever made it.
    mutating func rollback() {
        // Only fails when nothing is open.
        do throws(SDPError) { try negotiation.rollback() } catch {}
    }

    /// Whether an offer says of media what was said before, so that only its transport is new: an ICE restart, a page that was
    /// loaded again.
    func changesTransportOnly(_ offer: PeerDescription, since before: PeerDescription?) -> Bool {
        guard let before, offer.transportMedia?.transport.credentials != before.transportMedia?.transport.credentials
        else { return false }
        let shape = { (description: PeerDescription) in
            description.usableMedia.map { [$0.kind.token, $0.direction.rawValue] }
        }
        return shape(offer) == shape(before)
    }

    /// The media path begins anew, with the next connection.
    mutating func takeRenewal() -> Bool {
        defer { isRenewed = false }
        if isRenewed { progress = .waiting }
        return isRenewed
    }
}

extension PeerDescription {
    /// What of it the gateway can decode and mix, or pass on to several: its audio codecs, and the one video codec that every
    /// browser has (RFC 7742 §5).
    ///
    /// Of Opus the gateway takes two channels from who sends them, and sends them to who takes them.
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
    fileprivate var carriesMedia: Bool { codecs.contains(where: \.carriesMedia) }
}

extension CallError {
    /// A description that was refused, told apart by who can do something about it.
    init(_ error: SDPError) {
        self =
            switch error {
            case .malformedLine, .malformedSession, .malformedMedia, .limitExceeded, .offerMismatch, .answerMismatch:
                .malformedDescription(error.description)
            case .unsupportedLitePeer, .noUsableMedia, .wrongState, .restartNeedsCredentials:
                .unsupportedDescription(error.description)
            }
    }
}
