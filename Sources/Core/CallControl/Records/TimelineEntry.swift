/// One thing that happened in a call.
package struct TimelineEntry: Hashable, Sendable {
    /// Spelt as on the wire.
    package enum Event: String, Hashable, Sendable, CaseIterable {
        case created
        /// A device was told of the call.
        case offered
        /// A device shows the call.
        case ringing
        /// The caller is given something to hear before the answer.
        case progress
        case answered
        /// A device declined, for all of its user's.
        case rejected
        /// A device stopped ringing because another one of its user answered.
        case answeredElsewhere
        /// A checked pair may carry media.
        case iceConnected
        /// Keys are agreed.
        case dtlsConnected
        /// The first media packet came from this end.
        case firstPacket
        /// The end's client began anew, with another media path.
        case mediaRestarted
        case mediaPathLost
        case mediaPathRecovered
        /// This end keeps the others waiting.
        case held
        case resumed
        case forwarded
        /// This end wants the others connected with `party`.
        case transferStarted
        /// The end is where it was.
        case transferFailed
        /// The end has handed its call to the others, or to a conference.
        case completed
        /// The end came from another call.
        case joined
        /// The end is part of another call now.
        case moved
        /// The end left, the others go on.
        case left
        case ended
    }

    /// Milliseconds since 1970. Entries of a call are in order, whatever happens to the clock on the wall.
    package var time: Int64
    package var event: Event
    /// `nil` if it concerns the whole call, or the gateway.
    package var leg: Leg?
    /// The address of that end, or of whom a call is forwarded or transferred to.
    package var party: String?
    /// One of the user's devices, from 1 in the order in which they were told; `nil` if it is not known which.
    package var device: Int?
    package var statusCode: Int?
    package var reasonText: String?
    package var cause: String?

    package init(
        time: Int64, _ event: Event, leg: Leg? = nil, party: String? = nil, device: Int? = nil, statusCode: Int? = nil,
        reasonText: String? = nil, cause: String? = nil
    ) {
        self.time = time
        self.event = event
        self.leg = leg
        self.party = party
        self.device = device
        self.statusCode = statusCode
        self.reasonText = reasonText
        self.cause = cause
    }
}

/// Entries in order, as many as are worth keeping.
struct Timeline: Equatable, Sendable {
    /// A client that holds and resumes all day fills no memory.
    static let capacity = 250

    private(set) var entries: [TimelineEntry] = []

    /// The end of a call always has room.
    mutating func append(_ entry: TimelineEntry) {
        if entries.count < Self.capacity || entry.event == .ended { entries.append(entry) }
    }
}
