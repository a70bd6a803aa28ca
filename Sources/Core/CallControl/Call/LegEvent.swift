/// Something that happens to one leg of a call.
package enum LegEvent: Equatable, Sendable {
    /// The leg hung up.
    ///
    /// - Parameters:
    ///   - from: the user's device that asked for it; `nil`: unknown.
    ///   - reasonText: the user's words for the other leg; `nil`: none.
    case ended(from: SubscriptionID?, reasonText: String?)
    /// The media path of the leg failed.
    case mediaFailed(MediaFailure)
    /// The last subscription of the leg's user is over.
    case subscriptionEnded
    /// The client of the leg gives no sign of life.
    case clientLost
    /// The leg has transferred the party that it talks to into another call, which replaces this one.
    case replaced
}

extension LegEvent {
    /// The user's words; `nil`: none.
    var reasonText: String? {
        if case .ended(_, let reason) = self { reason } else { nil }
    }

    /// The user's device that asked for it; `nil`: unknown, or none.
    var device: SubscriptionID? {
        if case .ended(let device, _) = self { device } else { nil }
    }

    /// Why the call ends, if it ends with this event of `leg`.
    func cause(of leg: LegID) -> CallEndCause {
        switch self {
        case .ended(_, let reason): .completed(by: leg, reasonText: reason)
        case .mediaFailed(let failure): .mediaFailed(leg, failure)
        case .subscriptionEnded: .subscriptionEnded(leg)
        case .clientLost: .clientLost(leg)
        case .replaced: .transferred(by: leg)
        }
    }
}
