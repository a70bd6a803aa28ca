package import Primitives

extension Call {
    /// A conference that waits for the legs of two calls (spidr-wire §8.7).
    package struct Joining: Equatable, Sendable {
        /// When the joiner asked for the conference.
        let startedAt: MonotonicTime
        /// The two calls that are to be joined.
        let calls: [CallID]
        /// The legs that have been offered so far, one handover for each call.
        package private(set) var received: [Handover] = []
        /// Parameters and bodies of the joiner's request, which come back in its answer.
        let content: CustomContent
        /// When the conference fails because a call has not offered its legs.
        let deadline: MonotonicTime

        /// Makes a conference that has received nothing; each parameter is the property of that name.
        package init(startedAt: MonotonicTime, calls: [CallID], content: CustomContent, deadline: MonotonicTime) {
            self.startedAt = startedAt
            self.calls = calls
            self.content = content
            self.deadline = deadline
        }
    }
}

extension Call.Joining {
    /// The outcome of an offer of legs.
    package enum Reception: Equatable, Sendable {
        /// The legs are not of a call that was asked, or not of the joiner's; they are to be declined.
        case declined
        /// The legs of another call are still awaited.
        case waiting
        /// Every call has offered its legs.
        case complete
    }

    /// Whether this call was asked for its legs.
    package func asks(_ call: CallID) -> Bool { calls.contains(call) }

    /// A call offers its legs. The same offer again changes nothing.
    ///
    /// - Parameter keeper: the joiner's user; `nil`: the joiner has left.
    package mutating func receive(_ handover: Handover, keeper: UserAddress?) -> Reception {
        guard asks(handover.from), handover.keeper == keeper else { return .declined }
        if !received.contains(where: { $0.from == handover.from }) { received.append(handover) }
        return received.count == calls.count ? .complete : .waiting
    }

    /// Asks the calls for their legs.
    ///
    /// - Parameter joiner: the leg of the user whose calls they are.
    func requests(by joiner: LegID) -> [PeerCallAction] { calls.map { .requestHandover($0, of: joiner) } }

    /// Declines what the calls have offered, or will offer: a later offer would find no taker.
    package var withdrawals: [PeerCallAction] { calls.map { .declineHandover($0) } }
}
