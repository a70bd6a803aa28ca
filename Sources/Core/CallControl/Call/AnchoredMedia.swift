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

/// The descriptions and the media paths of an anchored call: an offer/answer exchange on each leg (RFC 3264), each with
/// the gateway as peer, and the one mirroring the other.
struct AnchoredMedia: Equatable, Sendable {
    private(set) var legs: PerLeg<LegNegotiation>
    private(set) var progress = PerLeg(caller: MediaProgress.waiting, callee: .waiting)
    private let policy: MediaPolicy

    private init(identities: PerLeg<LegIdentity>, policy: MediaPolicy) {
        legs = PerLeg(caller: LegNegotiation(identity: identities.caller), callee: LegNegotiation(identity: identities.callee))
        self.policy = policy
    }

    /// Reads the caller's offer and makes the one the callee gets.
    static func offering(
        _ text: String, identities: PerLeg<LegIdentity>, policy: MediaPolicy, random: inout some RandomSource
    ) throws(SDPError) -> (media: AnchoredMedia, offer: String) {
        let received = try PeerDescription(reading: SessionDescription(parsing: text), as: .offer)
        var media = AnchoredMedia(identities: identities, policy: policy)
        try media.legs.caller.receiveOffer(received)
        let made = try media.legs.callee.makeOffer(mirroring: received, policy: policy, random: &random)
        return (media, made.serialized)
    }

    /// Reads the callee's answer and makes the one the caller gets. Throws and changes nothing if it does not fit.
    mutating func answer(_ text: String, random: inout some RandomSource) throws(SDPError) -> String {
        let received = try PeerDescription(reading: SessionDescription(parsing: text), as: .answer)
        var next = legs
        try next.callee.receiveAnswer(received)
        let made = try next.caller.makeAnswer(mirroring: received, policy: policy, random: &random)
        legs = next
        return made.serialized
    }

    /// Progress never goes back; events may come late or twice.
    mutating func advance(_ leg: Leg, to step: MediaProgress) { progress[leg] = max(progress[leg], step) }

    /// The first leg that cannot carry media yet.
    var unsecuredLeg: Leg? { Leg.allCases.first { progress[$0] < .secured } }

    func credentials(of leg: Leg) -> ICECredentials { legs[leg].identity.credentials }
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
