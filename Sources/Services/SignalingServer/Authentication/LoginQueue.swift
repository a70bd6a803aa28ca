package import Primitives

/// The queue of logins for the slow hash. It decides which login is next, and when a login for which there is no room
/// should be tried again.
///
/// Networks take turns, so the logins of one network wait for each other and hardly for those of other networks.
/// Familiar claims (see ``LoginThrottle``) go before strangers, but strangers get every fourth turn at least.
///
/// Only a few strangers per network may wait. All others get a retry time, and so do familiar claims that would wait
/// for longer than a client's patience. A retry time is the time at which the queue will have come to the login.
/// Retry times of one network follow each other as fast as its logins are checked. A client that comes at its retry
/// time finds more room than one that comes unasked. So a client that repeats its request three times gets in, however
/// many others came at the same moment.
package struct LoginQueue<Ticket: Hashable & Sendable>: Sendable {
    /// The limits of the queue.
    package struct Configuration: Equatable, Sendable {
        /// How many hashes are computed at the same time.
        package var threads = 1
        /// How many logins may wait in all.
        package var limit = 4_096
        /// How many strangers from one site may wait unasked.
        package var strangersPerSite = 4
        /// How many strangers from one site may wait, counting those who come at their retry time.
        package var returnersPerSite = 64
        /// How long a familiar claim may wait unasked. One that comes at its retry time may wait twice as long.
        package var patience = Duration.seconds(15)
        /// The longest time until a retry time.
        package var horizon = Duration.seconds(300)
        /// How many retry times are remembered.
        package var retryTimeLimit = 65_536
        /// The assumed duration of a check, until some have been measured.
        package var firstCost = Duration.milliseconds(200)

        /// Makes a configuration with the default values.
        package init() {}
    }

    /// What becomes of a login that comes.
    package enum Entry: Equatable, Sendable {
        /// The login waits, and ``next()`` will name the ticket.
        case waits
        /// The queue has no room; the client comes back after this time.
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
    private var retryTimes: [LoginThrottle.Claim: MonotonicTime] = [:]
    /// The latest retry time that was given to a line.
    private var latest: [Line: MonotonicTime] = [:]

    /// Strangers get one of so many turns while familiar claims wait, too.
    private static var turnsPerStranger: Int { 4 }
    /// The ratio between the distance of retry times and that of checks. Clients that come unasked or late need room
    /// as well.
    private static var slack: Double { 1.1 }
    private static var earliness: Duration { .seconds(1) }
    private static var lateness: Duration { .seconds(60) }

    /// Makes an empty queue.
    package init(_ configuration: Configuration) {
        self.configuration = configuration
        cost = configuration.firstCost
    }

    /// How many logins wait for their turn.
    package var waitingCount: Int { familiar.count + strangers.count }

    /// Whether no login waits, and none is being checked but so many.
    package func isIdle(besides checks: Int) -> Bool { running <= checks && waitingCount == 0 }

    // MARK: - Coming

    /// Lets a login wait, or gives it a retry time.
    ///
    /// - Parameters:
    ///   - ticket: the name of the login.
    ///   - isFamiliar: whether the network is familiar to the account; see ``LoginThrottle``.
    ///   - jitter: 0 up to 1; spreads the retry times of logins that came together.
    package mutating func enter(
        _ ticket: Ticket, _ claim: LoginThrottle.Claim, isFamiliar: Bool, at now: MonotonicTime, jitter: Double
    ) -> Entry {
        let line = Line(site: claim.network?.site, isFamiliar: isFamiliar)
        guard hasRoom(in: line, isOnTime: isOnTime(claim, at: now)) else {
            return .comesBack(after: postpone(claim, isFamiliar: isFamiliar, at: now, jitter: jitter))
        }
        retryTimes[claim] = nil
        if isFamiliar { familiar.append(ticket, for: line.site) } else { strangers.append(ticket, for: line.site) }
        return .waits
    }

    /// Gives a retry time, or repeats the one that was given before.
    ///
    /// - Parameter jitter: 0 up to 1; spreads the retry times of logins that came together.
    /// - Returns: the time until the retry time.
    package mutating func postpone(
        _ claim: LoginThrottle.Claim, isFamiliar: Bool, at now: MonotonicTime, jitter: Double
    ) -> Duration {
        if let retryTime = retryTimes[claim], retryTime > now { return retryTime - now }
        let line = Line(site: claim.network?.site, isFamiliar: isFamiliar)
        let reached = now + expectedWait(in: line)
        let delay = min(max(latest[line] ?? reached, reached) + spacing(of: line) - now, configuration.horizon)
        makeRoomForRetryTimes(at: now)
        latest[line] = now + delay
        let spread = min(max(delay / 10, .milliseconds(500)), .seconds(2))
        let retryTime = now + delay + spread * jitter
        if retryTimes.count < configuration.retryTimeLimit { retryTimes[claim] = retryTime }
        return retryTime - now
    }

    private func isOnTime(_ claim: LoginThrottle.Claim, at now: MonotonicTime) -> Bool {
        guard let retryTime = retryTimes[claim] else { return false }
        return now >= retryTime - Self.earliness && now <= retryTime + Self.lateness
    }

    private func hasRoom(in line: Line, isOnTime: Bool) -> Bool {
        if running < configuration.threads, waitingCount == 0 { return true }
        guard waitingCount < configuration.limit else { return false }
        guard line.isFamiliar else {
            return strangers.count(of: line.site)
                < (isOnTime ? configuration.returnersPerSite : configuration.strangersPerSite)
        }
        return expectedWait(in: line) <= configuration.patience * (isOnTime ? 2 : 1)
    }

    /// Forgets retry times that have passed, when there are too many.
    private mutating func makeRoomForRetryTimes(at now: MonotonicTime) {
        if retryTimes.count >= configuration.retryTimeLimit {
            retryTimes = retryTimes.filter { $0.value + Self.lateness >= now }
        }
        if latest.count >= configuration.limit { latest = latest.filter { $0.value > now } }
        if latest.count >= configuration.limit { latest = [:] }
    }

    // MARK: - How long it takes

    /// The expected time until a login that enters the line now has been checked.
    private func expectedWait(in line: Line) -> Duration {
        let queue = line.isFamiliar ? familiar : strangers
        let places = queue.count(of: line.site) + 1
        let keys = max(1, queue.keyCount + (places == 1 ? 1 : 0))
        let ahead = min(queue.count, places * keys)
        return timePerCheck(of: line) * (ahead + 1)
    }

    /// The expected time between two checks for the same network.
    private func spacing(of line: Line) -> Duration {
        let queue = line.isFamiliar ? familiar : strangers
        return timePerCheck(of: line) * max(1, queue.keyCount) * Self.slack
    }

    /// The expected time between two checks of this kind, for whichever network.
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

    /// The login whose turn it is. `nil` if none waits, or all threads are busy.
    ///
    /// ``finished(after:)`` must follow for each ticket.
    package mutating func next() -> Ticket? {
        guard running < configuration.threads, waitingCount > 0 else { return nil }
        turn = (turn + 1) % Self.turnsPerStranger
        let ticket =
            turn == 0 ? strangers.popFirst() ?? familiar.popFirst() : familiar.popFirst() ?? strangers.popFirst()
        if ticket != nil { running += 1 }
        return ticket
    }

    /// Frees the thread of a check.
    ///
    /// - Parameter duration: how long the check took. `nil` if it did not take place after all.
    package mutating func finished(after duration: Duration?) {
        running -= 1
        if let duration { cost = cost * 7 / 8 + duration / 8 }
    }
}
