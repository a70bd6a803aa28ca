import CallControl
import EventAPI

/// What becomes of lists and gatherings whose leg is gone from the call: nobody else can tell it.
extension ApplicationOwner {
    /// A list of a leg is over, and the call that the leg was part of cannot tell it any more. What is about a leg of
    /// another owner is ignored.
    ///
    /// - Parameter place: where the leg was.
    /// - Returns: what follows.
    func endedLate(_ list: PlayedList, of session: SessionID, at place: LegAddress) -> [ApplicationLeg.Action] {
        let now = environment.clock.now
        guard let actions = edit(session, { $0.endedLate(list, at: now) }) else { return [] }
        publish(.listEnded(list, of: place), of: session)
        return actions
    }

    /// Tells programs an event of a leg that is not counted among those of the call.
    func publish(_ event: OtherEvent, of session: SessionID) {
        let body = EventBody(event, at: environment.clock.epochMilliseconds, trace: legs[session]?.view.trace)
        environment.journal.append(.published(Publication(body, of: .application(identity))))
    }
}
