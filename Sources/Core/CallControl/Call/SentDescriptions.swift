/// The descriptions that a leg sent last. By them the gateway recognises a description that comes twice or too late.
package struct SentDescriptions: Equatable, Sendable {
    /// How the leg answered the call; `nil`: it was not rung, has not answered, or has changed calls since.
    private var answer: DescriptionIdentity?
    /// How the leg last answered an offer; `nil`: it never did.
    private var response: DescriptionIdentity?
    /// What the leg sent last; `nil`: nothing, or nothing that can be recognised.
    private var last: DescriptionIdentity?

    /// Makes a value for a leg that has sent nothing.
    package init() {}

    /// Records a description that was accepted.
    ///
    /// - Parameter identity: `nil`: the description cannot be told apart from others.
    package mutating func record(_ identity: DescriptionIdentity?, as request: DescriptionIdentity.Request) {
        switch request {
        case .answer: answer = identity
        case .response: response = identity
        case .start, .offer: break
        }
        last = identity
    }

    /// The last description was given up: the leg may send it once more.
    package mutating func forgetLast() { last = nil }

    /// Whether the leg has sent this same description before, in the same kind of request. A response is no answer to
    /// a newer offer either: a peer that describes anew counts up the version in `o=` (RFC 8829 §5.3.1).
    package func isRepeated(_ identity: DescriptionIdentity?) -> Bool {
        guard let identity else { return false }
        return switch identity.request {
        case .start, .offer: identity == last
        case .answer: identity == answer
        case .response: identity == response
        }
    }

    /// Whether the leg has sent a newer description since.
    ///
    /// - Parameter own: the session id of the gateway towards the leg; `nil` if media goes from peer to peer.
    package func isOlder(_ identity: DescriptionIdentity?, own: UInt64?) -> Bool {
        guard let identity, let last else { return false }
        return identity.isOlder(than: last, unlessFrom: own)
    }

    /// Whether an answer was sent before the last offer of the same leg, and arrived after it: two requests of one
    /// client may overtake each other. The offer says all that the answer says, so that the answer changes nothing.
    ///
    /// While the offer waits for its answer, only a higher version shows that the client has put the offer aside. There
    /// are peers that do not count versions: aiortc writes the time in seconds.
    ///
    /// - Parameters:
    ///   - isOffering: an offer of this leg waits for its answer.
    ///   - own: as in `isOlder(_:own:)`.
    package func isOvertaken(_ response: DescriptionIdentity?, isOffering: Bool, own: UInt64?) -> Bool {
        guard let response, let last, last.request == .offer else { return false }
        return isOlder(response, own: own) || isOffering && !response.isNewer(than: last)
    }

    /// What another call has to know of a leg that it takes.
    func handedOver() -> SentDescriptions {
        var handed = self
        handed.answer = nil
        return handed
    }
}
