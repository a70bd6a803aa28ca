/// What is kept of a call for one of its users: an item of the user's call log (spidr-wire §10).
package struct CallLogRecord: Equatable, Sendable {
    package enum Direction: String, Hashable, Sendable, CaseIterable {
        case incoming
        case outgoing
        /// Came in, and nobody at this user took or refused it.
        case missed
    }

    /// An end of the call, the user's own first.
    package struct Party: Equatable, Sendable {
        package var side: CallSide
        package var name: String
        package var address: String
        /// Was rung, or brought into the call; else it dialled.
        package var isCalled: Bool

        package init(side: CallSide, name: String, address: String, isCalled: Bool) {
            self.side = side
            self.name = name
            self.address = address
            self.isCalled = isCalled
        }
    }

    package struct Event: Equatable, Sendable {
        package var side: CallSide
        package var entry: TimelineEntry

        package init(side: CallSide, entry: TimelineEntry) {
            self.side = side
            self.entry = entry
        }
    }

    /// The `sessionData` of the user's leg.
    package var id: SessionID
    package var user: UserAddress
    package var direction: Direction
    /// Milliseconds since 1970, as the times below.
    package var startedAt: Int64
    /// When this user's end and another began to talk; `nil`: never.
    package var answeredAt: Int64?
    package var endedAt: Int64
    /// As in the last notification.
    package var names: Notification.Parties
    package var parties: [Party]
    /// `nil`: the leg became part of another call, and its record goes on there.
    package var ending: CallEnding?
    package var endedBy: CallSide
    package var timeline: [Event]

    package init(
        id: SessionID, user: UserAddress, direction: Direction, startedAt: Int64, answeredAt: Int64? = nil,
        endedAt: Int64,
        names: Notification.Parties, parties: [Party], ending: CallEnding? = nil, endedBy: CallSide, timeline: [Event]
    ) {
        self.id = id
        self.user = user
        self.direction = direction
        self.startedAt = startedAt
        self.answeredAt = answeredAt
        self.endedAt = endedAt
        self.names = names
        self.parties = parties
        self.ending = ending
        self.endedBy = endedBy
        self.timeline = timeline
    }

    /// Milliseconds of conversation.
    package var duration: Int64 { answeredAt.map { max(0, endedAt - $0) } ?? 0 }

    /// The record of a leg that went on in another call, which `later` is the record of.
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
