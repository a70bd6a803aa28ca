/// What is kept of a call for one of its users: an item of the user's call log (spidr-wire §10).
package struct CallLogRecord: Equatable, Sendable {
    /// The direction of the call, seen from the user.
    package enum Direction: String, Hashable, Sendable, CaseIterable, Codable {
        /// The user was called, and took, declined or forwarded the call.
        case incoming
        /// The user called.
        case outgoing
        /// The user was called, and no device of the user took, declined or forwarded the call.
        case missed
    }

    /// A leg of the call; the user's own comes first.
    package struct Party: Equatable, Sendable, Codable {
        /// The place of the leg, seen from the user's own.
        package var side: CallSide
        /// The display name of the leg's user; may be empty.
        package var name: String
        /// The address of the leg's user, `user@domain`.
        package var address: String
        /// The leg was rung, or brought into the call; otherwise it dialled.
        package var isCalled: Bool

        /// Makes a party of its parts; each parameter is the property of that name.
        package init(side: CallSide, name: String, address: String, isCalled: Bool) {
            self.side = side
            self.name = name
            self.address = address
            self.isCalled = isCalled
        }
    }

    /// An entry of the timeline, as the user sees it.
    package struct Event: Equatable, Sendable, Codable {
        /// The leg that the entry is about, seen from the user's own.
        package var side: CallSide
        /// What happened, and when.
        package var entry: TimelineEntry

        /// Makes an event of its parts; each parameter is the property of that name.
        package init(side: CallSide, entry: TimelineEntry) {
            self.side = side
            self.entry = entry
        }
    }

    /// The `sessionData` of the user's leg; identifies the record.
    package var id: SessionID
    /// The user whose record it is.
    package var user: UserAddress
    /// The direction of the call, seen from the user.
    package var direction: Direction
    /// When the leg became part of the call, milliseconds since 1970.
    package var startedAt: Int64
    /// When this leg and another one started to talk, milliseconds since 1970; `nil`: never.
    package var answeredAt: Int64?
    /// When the call ended for this leg, milliseconds since 1970.
    package var endedAt: Int64
    /// The caller, as the user last saw it.
    package var caller: ShownParty
    /// The callee, as the user last saw it.
    package var callee: ShownParty
    /// All legs that were part of the call, the user's own first.
    package var parties: [Party]
    /// How the call ended for this leg; `nil`: the leg became part of another call, whose record continues this one.
    package var ending: CallEnding?
    /// Who caused the end, seen from the user.
    package var endedBy: CallSide
    /// What happened in the call, in order, as the user sees it.
    package var timeline: [Event]

    /// Makes a record of its parts; each parameter is the property of that name.
    package init(
        id: SessionID, user: UserAddress, direction: Direction, startedAt: Int64, answeredAt: Int64? = nil,
        endedAt: Int64, caller: ShownParty, callee: ShownParty, parties: [Party], ending: CallEnding? = nil,
        endedBy: CallSide, timeline: [Event]
    ) {
        self.id = id
        self.user = user
        self.direction = direction
        self.startedAt = startedAt
        self.answeredAt = answeredAt
        self.endedAt = endedAt
        self.caller = caller
        self.callee = callee
        self.parties = parties
        self.ending = ending
        self.endedBy = endedBy
        self.timeline = timeline
    }

    /// The time of conversation, milliseconds; 0 if the call was not answered.
    package var duration: Int64 { answeredAt.map { max(0, endedAt - $0) } ?? 0 }

    /// The record of a leg that went on in another call: this record and `later`, the record there, as one.
    package func continued(by later: CallLogRecord) -> CallLogRecord {
        var whole = later
        whole.direction = direction
        whole.startedAt = startedAt
        whole.answeredAt = answeredAt ?? later.answeredAt
        whole.parties += parties.filter { party in !later.parties.contains { $0.address == party.address } }
        whole.timeline = timeline + later.timeline
        return whole
    }
}
