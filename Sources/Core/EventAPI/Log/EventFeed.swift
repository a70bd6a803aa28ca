/// The latest events of the log, and the subscribers who wait for the next ones.
///
/// Subscribers ask for pages. Who asks from a place that is not among the latest events is sent to the table; who has
/// everything waits. A subscriber that is slow asks late, and takes no memory meanwhile.
package struct EventFeed: Sendable {
    /// What a question leads to.
    package enum Answer: Equatable, Sendable {
        /// The events there are.
        case page(EventPage)
        /// There is nothing yet; ``publish(_:)`` or ``leave(_:)`` says more.
        case wait
        /// What comes next is not among the latest events; those up to this number are in the table.
        case older(through: Int64)
    }

    private struct Wait: Sendable {
        let selection: EventSelection
        /// Everything up to this number was looked at.
        var through: Int64
    }

    /// The latest events, in order: all that have a number greater than `start`.
    private var latest: [PublicEvent] = []
    /// The number of the last event that is not among the latest any more.
    package private(set) var start: Int64
    /// How many bytes of JSON the latest events have.
    private var byteCount = 0
    private let capacity: Int
    private let byteLimit: Int
    private var waiting: [UInt64: Wait] = [:]
    /// Nothing comes any more.
    package private(set) var isOver = false

    /// The number of the last event.
    package private(set) var last: Int64

    /// Makes a feed.
    ///
    /// - Parameters:
    ///   - last: the number of the last event of the table; 0: there is none.
    ///   - capacity: how many events are kept here, 4 or more.
    ///   - byteLimit: how many bytes of JSON they may have. An event that has nearly as many is not kept.
    package init(last: Int64, capacity: Int, byteLimit: Int) {
        self.last = last
        self.capacity = capacity
        self.byteLimit = byteLimit
        start = last
    }

    /// Events have become durable.
    ///
    /// - Parameter events: in order; each number is greater than all before.
    /// - Returns: what subscribers who waited are told.
    package mutating func publish(_ events: [PublicEvent]) -> [(subscriber: UInt64, page: EventPage)] {
        guard let newest = events.last else { return [] }
        last = newest.number
        latest += events
        byteCount += events.reduce(0) { $0 + $1.json.count }
        if latest.count > capacity || byteCount > byteLimit { makeRoom() }
        var told: [(subscriber: UInt64, page: EventPage)] = []
        for (subscriber, wait) in waiting {
            let wanted = events.filter(wait.selection.includes)
            if wanted.isEmpty {
                waiting[subscriber]?.through = newest.number
            } else {
                waiting[subscriber] = nil
                told.append((subscriber, EventPage(events: wanted, through: newest.number)))
            }
        }
        return told
    }

    /// Lets the oldest go, down to three quarters of the limits, so that it is not needed again at once.
    private mutating func makeRoom() {
        var surplus = 0
        while latest.count - surplus > capacity * 3 / 4 || byteCount > byteLimit / 4 * 3 {
            byteCount -= latest[surplus].json.count
            start = latest[surplus].number
            surplus += 1
        }
        latest.removeFirst(surplus)
    }

    /// A subscriber asks for what comes behind a place.
    ///
    /// - Parameters:
    ///   - subscriber: a name that nobody else has.
    ///   - number: the place.
    ///   - limit: the most events of the page, 1 or more.
    package mutating func ask(
        _ subscriber: UInt64, after number: Int64, _ selection: EventSelection, limit: Int
    ) -> Answer {
        if isOver { return .page(EventPage(through: number, isOver: true)) }
        guard number >= start else { return .older(through: start) }
        var page = EventPage(through: max(number, last))
        for event in latest[firstIndex(after: number)...] where selection.includes(event) {
            if page.events.count == limit {
                page.through = page.events.last?.number ?? number
                break
            }
            page.events.append(event)
        }
        guard page.events.isEmpty else { return .page(page) }
        waiting[subscriber] = Wait(selection: selection, through: page.through)
        return .wait
    }

    /// A subscriber does not wait any longer.
    ///
    /// - Returns: the page that it gets, without events; `nil`: it does not wait.
    package mutating func leave(_ subscriber: UInt64) -> EventPage? {
        waiting.removeValue(forKey: subscriber).map { EventPage(through: $0.through, isOver: isOver) }
    }

    /// Nothing comes any more: the gateway stops.
    ///
    /// - Returns: what subscribers who waited are told.
    package mutating func finish() -> [(subscriber: UInt64, page: EventPage)] {
        isOver = true
        var told: [(subscriber: UInt64, page: EventPage)] = []
        for subscriber in Array(waiting.keys) {
            if let page = leave(subscriber) { told.append((subscriber, page)) }
        }
        return told
    }

    /// The place in `latest` of the first event with a greater number.
    private func firstIndex(after number: Int64) -> Int {
        var (low, high) = (0, latest.count)
        while low < high {
            let middle = (low + high) / 2
            if latest[middle].number > number { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

/// Some events of the log that follow each other, as far as a subscriber wants them.
package struct EventPage: Equatable, Sendable {
    /// The events, in order.
    package var events: [PublicEvent]
    /// Everything up to this number was looked at: where the next page starts.
    package var through: Int64
    /// Events between the place that was asked for and these are gone.
    package var isGap: Bool
    /// Nothing comes any more: the gateway stops.
    package var isOver: Bool

    /// Makes a page of its parts; each parameter is the property of that name.
    package init(events: [PublicEvent] = [], through: Int64, isGap: Bool = false, isOver: Bool = false) {
        self.events = events
        self.through = through
        self.isGap = isGap
        self.isOver = isOver
    }
}
