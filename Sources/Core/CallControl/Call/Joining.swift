package import Primitives

extension Call {
    /// A conference that waits for the legs of two calls or more (spidr-wire §8.7).
    package struct Joining: Equatable, Sendable {
        /// When the joiner asked for the conference.
        let startedAt: MonotonicTime
        /// The calls that are to be joined.
        let calls: [CallID]
        /// The joiner's addresses in those of the calls where it is not the joiner's user.
        let keepers: [CallID: UserAddress]
        /// The legs that have been offered so far, one handover for each call.
        package private(set) var received: [Handover] = []
        /// Parameters and bodies of the joiner's request, which come back in its answer.
        let content: CustomContent
        /// When the conference fails because a call has not offered its legs.
        let deadline: MonotonicTime

        /// Makes a conference that has received nothing; each parameter is the property of that name.
        package init(
            startedAt: MonotonicTime, calls: [CallID], keepers: [CallID: UserAddress] = [:], content: CustomContent,
            deadline: MonotonicTime
        ) {
            self.startedAt = startedAt
            self.calls = calls
            self.keepers = keepers
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
    /// - Parameter joiner: the joiner's user; `nil`: the joiner has left.
    package mutating func receive(_ handover: Handover, keeper joiner: UserAddress?) -> Reception {
        guard let joiner, asks(handover.from), handover.keeper == (keepers[handover.from] ?? joiner) else {
            return .declined
        }
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
