/// One event in the timeline of a call.
package struct TimelineEntry: Hashable, Sendable, Codable {
    /// The kinds of events.
    package enum Event: String, Hashable, Sendable, CaseIterable, Codable {
        /// The call was started.
        case created
        /// A device was told of the call.
        case offered
        /// Devices that were asleep were woken by push.
        case waking
        /// A device shows the call.
        case ringing
        /// The caller got early media, ahead of the answer.
        case progress
        /// The leg answered the call.
        case answered
        /// A device declined, for all devices of its user.
        case rejected
        /// A device stopped ringing because another device of its user answered.
        case answeredElsewhere
        /// A path to the leg was checked, and may carry media.
        case pathChecked
        /// The keys of the path are agreed.
        case pathSecured
        /// The first media packet came from this leg's peer.
        case firstPacket
        /// The client of the leg started anew, with another media path.
        case mediaRestarted
        /// No packets come from this leg's peer any more.
        case mediaPathLost
        /// Packets come from this leg's peer again.
        case mediaPathRecovered
        /// This leg holds the others.
        case held
        /// This leg holds the others no more.
        case resumed
        /// This leg forwarded the call to `party`.
        case forwarded
        /// This leg asked to connect the others with `party`.
        case transferStarted
        /// The transfer failed; the leg that asked for it is where it was.
        case transferFailed
        /// The leg has handed its call to the others, or to a conference.
        case completed
        /// The leg came from another call.
        case joined
        /// The leg is part of another call from now on.
        case moved
        /// The leg left the call, and the others continue.
        case left
        /// Entries are missing here: the timeline was full, or the events were removed from the journal.
        case omitted
        /// The call ended, for all legs.
        case ended
    }

    /// When it happened, milliseconds since 1970. The entries of a call are in order, even if the wall clock is set.
    package var time: Int64
    /// What happened.
    package var event: Event
    /// The leg that it concerns; `nil`: the whole call, or the gateway.
    package var leg: LegID?
    /// The address of that leg's user, or of the user to whom the call is forwarded or transferred.
    package var party: String?
    /// The number of the user's device, from 1 in the order in which the devices were told; `nil`: unknown, or no
    /// device was involved.
    package var device: Int?
    /// Why it ended, where the event ends something; otherwise `nil`.
    package var cause: EndingCause?
    /// With `omitted`: how many entries or events are missing, 1 or more; otherwise `nil`.
    package var count: Int?

    /// Makes an entry of its parts; each parameter is the property of that name.
    package init(
        time: Int64, _ event: Event, leg: LegID? = nil, party: String? = nil, device: Int? = nil,
        cause: EndingCause? = nil, count: Int? = nil
    ) {
        self.time = time
        self.event = event
        self.leg = leg
        self.party = party
        self.device = device
        self.cause = cause
        self.count = count
    }
}

/// The timeline: entries in order, up to a limit.
struct Timeline: Equatable, Sendable {
    /// The limit keeps a client that holds and resumes all day from filling the memory.
    static let capacity = 250

    private(set) var entries: [TimelineEntry] = []
    /// How many entries are missing that there was no room for.
    private var omitted = 0

    /// Adds an entry, if there is room for it. There is always room for the end of the call, and for the number of
    /// entries that are missing before it.
    mutating func append(_ entry: TimelineEntry) {
        if entry.event == .ended {
            if omitted > 0 { entries.append(TimelineEntry(time: entry.time, .omitted, count: omitted)) }
            entries.append(entry)
        } else if entries.count < Self.capacity {
            entries.append(entry)
        } else {
            omitted += entry.count ?? 1
        }
    }
}
