package import Primitives

/// Who waits for the slow hash, who is next, and when those come back for whom there is no room.
///
/// Networks take turns, so a network with many logins waits for its own and hardly for those of others. Familiar claims
/// (see ``LoginThrottle``) go before strangers, who get every fourth turn at least.
///
/// Of strangers only a few per network wait. Everybody else, and familiar claims that would wait for longer than a
/// client's patience, are given an appointment: the time at which the queue will have come to them. Appointments of one
/// network follow each other as fast as its logins are checked, and who keeps one finds more room than who comes
/// unasked. So a client that repeats its request three times gets in, however many others came at the same moment.
package struct LoginQueue<Ticket: Hashable & Sendable>: Sendable {
    package struct Configuration: Equatable, Sendable {
        /// Checks at the same time.
        package var threads = 1
        /// Logins that may wait in all.
        package var limit = 4_096
        /// Strangers from one site that may wait, unasked.
        package var strangersPerSite = 4
        /// Strangers from one site that may wait, counting those who keep an appointment.
        package var returnersPerSite = 64
        /// How long a familiar claim may wait, unasked; those who keep an appointment may wait twice as long.
        package var patience = Duration.seconds(15)
        /// The most distant appointment.
        package var horizon = Duration.seconds(300)
        /// Appointments that are remembered.
        package var appointmentLimit = 65_536
        /// What a check takes, until some have been measured.
        package var firstCost = Duration.milliseconds(80)

        package init() {}
    }

    package enum Entry: Equatable, Sendable {
        /// ``next()`` will name the ticket.
        case waits
        case comesBack(after: Duration)
    }

    private struct Line: Hashable {
        var site: SourceNetwork?
        var isFamiliar: Bool
    }

    private let configuration: Configuration
    private var familiar = RoundRobin<SourceNetwork?, Ticket>()
    private var strangers = RoundRobin<SourceNetwork?, Ticket>()
    private var running = 0
    private var turn = 0
    private var cost: Duration
    private var appointments: [LoginThrottle.Claim: MonotonicTime] = [:]
    /// The last appointment that was given to a line.
    private var latest: [Line: MonotonicTime] = [:]

    /// Strangers get one of so many turns when others wait, too.
    private static var turnsPerStranger: Int { 4 }
    /// How much further apart appointments are than checks: those who come unasked, or late, need room as well.
    private static var slack: Double { 1.1 }
    private static var earliness: Duration { .seconds(1) }
    private static var lateness: Duration { .seconds(60) }

    package init(_ configuration: Configuration) {
        self.configuration = configuration
        cost = configuration.firstCost
    }

    package var waitingCount: Int { familiar.count + strangers.count }

    // MARK: - Coming

    /// - Parameter jitter: 0 up to 1; spreads the appointments of those who came together.
    package mutating func enter(
        _ ticket: Ticket, _ claim: LoginThrottle.Claim, isFamiliar: Bool, at now: MonotonicTime, jitter: Double
    ) -> Entry {
        let line = Line(site: claim.network?.site, isFamiliar: isFamiliar)
        guard hasRoom(in: line, keepsAppointment: keepsAppointment(claim, at: now)) else {
            return .comesBack(after: postpone(claim, isFamiliar: isFamiliar, at: now, jitter: jitter))
        }
        appointments[claim] = nil
        if isFamiliar { familiar.append(ticket, for: line.site) } else { strangers.append(ticket, for: line.site) }
        return .waits
    }

    /// Gives an appointment, or says once more when it is.
    package mutating func postpone(
        _ claim: LoginThrottle.Claim, isFamiliar: Bool, at now: MonotonicTime, jitter: Double
    ) -> Duration {
        if let appointment = appointments[claim], appointment > now { return appointment - now }
        let line = Line(site: claim.network?.site, isFamiliar: isFamiliar)
        let reached = now + expectedWait(in: line)
        let delay = min(max(latest[line] ?? reached, reached) + spacing(of: line) - now, configuration.horizon)
        makeRoomForAppointments(at: now)
        latest[line] = now + delay
        let spread = min(max(delay / 10, .milliseconds(500)), .seconds(2))
        let appointment = now + delay + spread * jitter
        if appointments.count < configuration.appointmentLimit { appointments[claim] = appointment }
        return appointment - now
    }

    private func keepsAppointment(_ claim: LoginThrottle.Claim, at now: MonotonicTime) -> Bool {
        guard let appointment = appointments[claim] else { return false }
        return now >= appointment - Self.earliness && now <= appointment + Self.lateness
    }

    private func hasRoom(in line: Line, keepsAppointment: Bool) -> Bool {
        if running < configuration.threads, waitingCount == 0 { return true }
        guard waitingCount < configuration.limit else { return false }
        guard line.isFamiliar else {
            return strangers.count(of: line.site)
                < (keepsAppointment ? configuration.returnersPerSite : configuration.strangersPerSite)
        }
        return expectedWait(in: line) <= configuration.patience * (keepsAppointment ? 2 : 1)
    }

    /// Appointments that were not kept, when there are too many.
    private mutating func makeRoomForAppointments(at now: MonotonicTime) {
        if appointments.count >= configuration.appointmentLimit {
            appointments = appointments.filter { $0.value + Self.lateness >= now }
        }
        if latest.count >= configuration.limit { latest = latest.filter { $0.value > now } }
        if latest.count >= configuration.limit { latest = [:] }
    }

    // MARK: - How long it takes

    /// Until a login that enters the line now is checked.
    private func expectedWait(in line: Line) -> Duration {
        let queue = line.isFamiliar ? familiar : strangers
        let places = queue.count(of: line.site) + 1
        let keys = max(1, queue.keyCount + (places == 1 ? 1 : 0))
        let ahead = min(queue.count, places * keys)
        return timePerCheck(of: line) * (ahead + 1)
    }

    /// Between two checks of the same line.
    private func spacing(of line: Line) -> Duration {
        let queue = line.isFamiliar ? familiar : strangers
        return timePerCheck(of: line) * max(1, queue.keyCount) * Self.slack
    }

    /// Between two checks of this kind, be it of whom it may.
    private func timePerCheck(of line: Line) -> Duration {
        let turns = Double(Self.turnsPerStranger)
        let share: Double =
            if line.isFamiliar {
                strangers.count == 0 ? 1 : (turns - 1) / turns
            } else {
                familiar.count == 0 ? 1 : 1 / turns
            }
        return cost / (Double(configuration.threads) * share)
    }

    // MARK: - Going

    /// Whose turn it is; `nil` if nobody waits, or all threads are at work. ``finished(after:)`` must follow for each.
    package mutating func next() -> Ticket? {
        guard running < configuration.threads, waitingCount > 0 else { return nil }
        turn = (turn + 1) % Self.turnsPerStranger
        let ticket =
            turn == 0 ? strangers.popFirst() ?? familiar.popFirst() : familiar.popFirst() ?? strangers.popFirst()
        if ticket != nil { running += 1 }
        return ticket
    }

    /// - Parameter duration: what the check took; `nil` if there was none after all.
    package mutating func finished(after duration: Duration?) {
        running -= 1
        if let duration { cost = cost * 7 / 8 + duration / 8 }
    }
}
