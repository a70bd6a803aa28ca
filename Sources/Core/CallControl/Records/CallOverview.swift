/// A call in progress, as an operator sees it. The names of the legs towards their users, which are secrets of guests,
/// are not part of it.
package struct CallOverview: Equatable, Sendable {
    /// A leg of the call.
    package struct Leg: Equatable, Sendable {
        /// The number of the leg.
        package var id: LegID
        /// The user of the leg; may be a guest.
        package var user: UserAddress
        /// Whose it is.
        package var holder: LegHolder
        /// The leg as the call sees it.
        package var member: CallSession.Member
        /// When it became part of the call, milliseconds since 1970.
        package var startedAt: Int64
        /// When it started to talk, milliseconds since 1970; `nil`: it has not.
        package var answeredAt: Int64?
    }

    /// The call.
    package var id: CallID
    /// When the call was started, milliseconds since 1970.
    package var startedAt: Int64
    /// When its first conversation started, milliseconds since 1970; `nil`: it has not been answered.
    package var answeredAt: Int64?
    /// The gateway terminates the media.
    package var isAnchored: Bool
    /// The call is a conference.
    package var isConference: Bool
    /// The legs that are part of the call, in the order in which they joined.
    package var legs: [Leg]
    /// What has happened in the call, in order.
    package var timeline: [TimelineEntry]
}

extension Call {
    /// What an operator sees of the call; `nil` once it is over.
    package func overview(_ history: CallHistory) -> CallOverview? {
        guard let first = legs.first?.id else { return nil }
        let legs = legs.compactMap { leg -> CallOverview.Leg? in
            // A leg that has left meanwhile is left out.
            guard let session = try? session(for: leg.id, history), let own = session.members.first else { return nil }
            return CallOverview.Leg(
                id: leg.id, user: leg.party.user, holder: leg.party.holder, member: own, startedAt: session.startedAt,
                answeredAt: session.answeredAt)
        }
        guard let session = try? session(for: first, history) else { return nil }
        return CallOverview(
            id: id, startedAt: history.origin.epochMilliseconds, answeredAt: legs.compactMap(\.answeredAt).min(),
            isAnchored: session.isAnchored, isConference: session.isConference, legs: legs,
            timeline: history.timeline.entries)
    }
}
