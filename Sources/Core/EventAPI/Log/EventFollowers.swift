package import Primitives

/// A program that has every event up to its place, and is to be sent the next ones as they come.
package struct EventFollowing: Equatable, Sendable {
    /// Everything up to this number is known to it.
    package var place: Int64
    /// What it wants of what comes.
    package var selection: EventSelection
    /// When it is to be looked after again, although nothing has come.
    package var deadline: MonotonicTime

    /// Makes a value of its parts; each parameter is the property of that name.
    package init(place: Int64, selection: EventSelection, deadline: MonotonicTime) {
        self.place = place
        self.selection = selection
        self.deadline = deadline
    }
}

/// What a program is sent next, where it is sent messages.
package enum EventMessages: Equatable, Sendable {
    /// JSON objects in UTF-8, in order; a message for each.
    case objects([[UInt8]])
    /// It has everything so far. The next events are messages as they come.
    case follow(EventFollowing)
}

/// The programs of one event loop that have every event so far, and are sent the next ones as they come.
///
/// Who wants the same is asked once for all. A program leaves with its place when it takes its events too slowly, when
/// its time is over, and when nothing comes any more; it goes on from there in the log.
package struct EventFollowers: Sendable {
    /// What some programs are sent.
    package struct Delivery: Equatable, Sendable {
        /// The events, at least one, in order.
        package var events: [PublicEvent]
        /// The names of the programs.
        package var names: [UInt64]

        /// Makes a delivery of its parts; each parameter is the property of that name.
        package init(events: [PublicEvent], names: [UInt64]) {
            self.events = events
            self.names = names
        }
    }

    /// What there is to do with a program that follows from now on.
    package struct Admission: Equatable, Sendable {
        /// When it leaves at the latest, rounded up.
        package var deadline: MonotonicTime
        /// What it wants of the events that have come since it looked into the log; it is sent them first.
        package var missed: [PublicEvent]
    }

    /// A program that has left, and its place.
    package typealias Leaver = (name: UInt64, place: Int64)

    /// What is different with a program from the others, who take each event as it comes.
    private enum Exception: Sendable {
        /// It knows what comes up to this number from the log.
        case ahead(Int64)
        /// What it was sent is on its way. It has missed what it wants behind this number; `nil`: nothing.
        case sending(missedAfter: Int64?)
    }

    /// How many events are sent to a program at a time, and how many it may have missed when it joins.
    package static let limit = 32

    /// The latest events, in order: all that have a number greater than `start`.
    private var latest: [PublicEvent] = []
    private var start: Int64
    /// The number of the last event that was published.
    private var last: Int64
    private var selections: [UInt64: EventSelection] = [:]
    private var names: [EventSelection: Set<UInt64>] = [:]
    private var exceptions: [UInt64: Exception] = [:]
    private var deadlines = WaitDeadlines()
    /// Nothing comes any more.
    private var isOver = false

    /// Makes an empty table.
    ///
    /// - Parameter last: the number of the last event of the log.
    package init(last: Int64) {
        start = last
        self.last = last
    }

    /// A program follows from now on.
    ///
    /// - Parameter name: a name that no other program has that follows.
    /// - Returns: `nil`: it does not follow, since it has missed too much, or nothing comes any more.
    package mutating func join(_ name: UInt64, _ following: EventFollowing) -> Admission? {
        let (place, selection) = (following.place, following.selection)
        guard !isOver, place >= start else { return nil }
        selections[name] = selection
        names[selection, default: []].insert(name)
        if place > last { exceptions[name] = .ahead(place) }
        let missed = place < last ? latest.filter { $0.number > place && selection.includes($0) } : []
        return Admission(deadline: deadlines.set(following.deadline, for: name), missed: missed)
    }

    /// Events have become durable.
    ///
    /// - Parameter events: at most ``limit``, in order; each number is greater than all before.
    /// - Returns: what is sent to whom.
    package mutating func publish(_ events: [PublicEvent]) -> [Delivery] {
        guard let newest = events.last?.number else { return [] }
        let before = last
        last = newest
        latest += events
        if latest.count > Self.limit {
            let surplus = latest.count - Self.limit
            start = latest[surplus - 1].number
            latest.removeFirst(surplus)
        }
        var deliveries: [Delivery] = []
        for (selection, members) in names {
            let wanted = events.filter(selection.includes)
            if wanted.isEmpty { continue }
            var ready: [UInt64] = []
            ready.reserveCapacity(members.count)
            for name in members {
                switch exceptions[name] {
                case nil: ready.append(name)
                case .ahead(let place)?:
                    if place <= newest { exceptions[name] = nil }
                    let unknown = wanted.filter { $0.number > place }
                    if !unknown.isEmpty { deliveries.append(Delivery(events: unknown, names: [name])) }
                case .sending(let missed)?: exceptions[name] = .sending(missedAfter: missed ?? before)
                }
            }
            if !ready.isEmpty { deliveries.append(Delivery(events: wanted, names: ready)) }
        }
        return deliveries
    }

    /// What a program was sent is on its way. Until ``sent(_:)`` it is sent nothing else.
    package mutating func sending(_ name: UInt64) {
        if selections[name] != nil { exceptions[name] = .sending(missedAfter: nil) }
    }

    /// What a program was sent has been taken.
    ///
    /// - Returns: its place if it has missed something meanwhile, and leaves; `nil`: it goes on, or does not follow.
    package mutating func sent(_ name: UInt64) -> Int64? {
        guard case .sending(let missed)? = exceptions[name] else { return nil }
        if missed != nil { return leave(name) }
        exceptions[name] = nil
        return nil
    }

    /// A program does not follow any longer.
    ///
    /// - Returns: its place; `nil`: it does not follow.
    package mutating func leave(_ name: UInt64) -> Int64? {
        guard let selection = selections.removeValue(forKey: name) else { return nil }
        names[selection]?.remove(name)
        if names[selection]?.isEmpty == true { names[selection] = nil }
        deadlines.remove(name)
        switch exceptions.removeValue(forKey: name) {
        case nil: return last
        case .ahead(let place)?: return max(place, last)
        case .sending(let missed)?: return missed ?? last
        }
    }

    /// When the time of the first program is over; `nil`: nobody waits for that.
    package var nextDeadline: MonotonicTime? { deadlines.earliest }

    /// Programs leave whose time is over. Those to whom something is on its way leave when that is sent.
    package mutating func timeout(at now: MonotonicTime) -> [Leaver] {
        var leavers: [Leaver] = []
        for name in deadlines.takeDue(at: now) {
            if case .sending(let missed)? = exceptions[name] {
                exceptions[name] = .sending(missedAfter: missed ?? last)
            } else if let place = leave(name) {
                leavers.append((name, place))
            }
        }
        return leavers
    }

    /// Nothing comes any more: the gateway stops. All programs leave.
    package mutating func finish() -> [Leaver] {
        isOver = true
        var leavers: [Leaver] = []
        for name in Array(selections.keys) {
            if let place = leave(name) { leavers.append((name, place)) }
        }
        return leavers
    }
}
