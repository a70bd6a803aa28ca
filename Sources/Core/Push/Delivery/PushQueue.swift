package import Primitives

/// The pushes to one provider, with one credential: which are sent, which wait, and when one is sent again.
///
///     submitted ──▶ waiting ──▶ in flight ──▶ ended
///                     ▲ ▲            │
///                     │ └─ paused ◀──┤ retry
///                     └──────────────┘ credential expired, once
///
/// A push is known by its number. The owner of the queue keeps the content of the push.
package struct PushQueue: Sendable {
    /// The limits of a queue.
    package struct Configuration: Hashable, Sendable {
        /// The most pushes that have not ended.
        package var capacity = 10_000
        /// The most pushes that have left and have no answer yet; more than 0.
        package var inFlight = 100
        /// When a push is sent again.
        package var retries = PushRetries()
        /// How long to wait before a credential that could not be had is asked for again; more than 0.
        package var credentialDelay = Duration.seconds(2)

        /// Makes a configuration with the default of each property.
        package init() {}
    }

    /// What is to be done.
    package enum Action: Hashable, Sendable {
        /// Send the push, and report its verdict.
        case send(UInt64)
        /// Get a new credential, and report it, or that there is none.
        case obtainCredential
        /// The push has ended. Its number is not used any more.
        case ended(UInt64, PushOutcome)
    }

    private enum Stage: Hashable {
        case waiting
        case inFlight(credential: Int)
        case paused
    }

    private struct Entry {
        let deadline: MonotonicTime
        /// How long the push was of use when it was taken.
        let lifetime: Duration
        let isUrgent: Bool
        var stage = Stage.waiting
        var attempts = 0
        var hasRenewed = false
        /// Nobody wants it any more: it is not sent again.
        var isWithdrawn = false
        var lastReason: String?
        /// Why the last attempt is to be repeated: the device may have got the push by it. `nil`: there was none such.
        var doubt: String?

        var isInFlight: Bool {
            if case .inFlight = stage { true } else { false }
        }
    }

    private enum Credential: Hashable {
        case none
        case requested
        /// The number counts credentials, so that a late answer to an old one is recognised.
        case ready(Int)
    }

    private let configuration: Configuration
    private let needsCredential: Bool
    private var entries: [UInt64: Entry] = [:]
    private var waiting = WaitingLine()
    private var inFlight = 0
    private var deadlines = DeadlineQueue()
    private var credential: Credential
    private var credentialCount = 0
    /// When a new credential is asked for, though there is one, or because there was none.
    private var credentialTime: MonotonicTime?
    /// Whether a new one was asked for and there is no answer yet.
    private var isAsking = false

    /// Makes an empty queue.
    ///
    /// - Parameter needsCredential: whether nothing can be sent without a credential.
    package init(_ configuration: Configuration = Configuration(), needsCredential: Bool) {
        self.configuration = configuration
        self.needsCredential = needsCredential
        credential = needsCredential ? .none : .ready(0)
    }

    /// The pushes that have not ended.
    package var count: Int { entries.count }

    // MARK: Inputs

    /// Takes a push that is of no use after a deadline. The number must be new.
    ///
    /// - Parameter isUrgent: it goes before those that are not, and takes the place of one of them if all places are
    ///   taken: of the latest that waits, or else of the latest that is to be sent again.
    package mutating func submit(
        _ number: UInt64, isUrgent: Bool = true, deadline: MonotonicTime, at now: MonotonicTime
    ) -> [Action] {
        precondition(entries[number] == nil, "a number names one push")
        var actions: [Action] = []
        if entries.count >= configuration.capacity, isUrgent { actions = makeRoom() }
        guard entries.count < configuration.capacity else { return [.ended(number, .givenUp(.overloaded(last: nil)))] }
        entries[number] = Entry(deadline: deadline, lifetime: deadline - now, isUrgent: isUrgent)
        return actions + wait(number, first: false, at: now)
    }

    /// Gives up the latest push that waits, or else is to be sent again, and is not urgent. While a provider is down,
    /// most pushes are to be sent again.
    private mutating func makeRoom() -> [Action] {
        while let number = waiting.popLatestOther() {
            // A number whose push has ended meanwhile is left in the queue.
            if entries[number]?.stage == .waiting { return giveUp(number, .overloaded(last: nil)) }
        }
        guard let number = latestNumber(where: { $0.stage == .paused && !$0.isUrgent }) else { return [] }
        return giveUp(number, .overloaded(last: nil))
    }

    /// The latest push that meets a condition; `nil`: there is none.
    private func latestNumber(where condition: (Entry) -> Bool) -> UInt64? {
        var latest: UInt64?
        for (number, entry) in entries where number > latest ?? 0 && condition(entry) { latest = number }
        return latest
    }

    /// A push that was sent has an answer, or has failed to get one. A number that is not in flight is ignored.
    package mutating func answered(
        _ number: UInt64, _ verdict: PushVerdict, at now: MonotonicTime, random: inout some RandomSource
    ) -> [Action] {
        guard case .inFlight(let generation)? = entries[number]?.stage else { return [] }
        inFlight -= 1
        var actions: [Action] = []
        switch verdict {
        case .delivered(let name): actions = end(number, .delivered(name: name))
        case .registrationDead(let reason, let since):
            actions = end(number, .registrationDead(reason: reason, since: since))
        case .refused(let status, let reason):
            actions = giveUp(number, .refused(status: status, reason: reason))
        case .retry(let reason, _) where entries[number]?.isWithdrawn == true,
            .credentialExpired(let reason) where entries[number]?.isWithdrawn == true:
            actions = end(number, .givenUp(.withdrawn(last: reason)))
        case .retry(let reason, let delay): actions = pause(number, reason, delay, at: now, random: &random)
        case .credentialExpired(let reason): actions = renew(number, reason, generation, at: now)
        }
        return actions + start(at: now)
    }

    /// A push that was to be sent cannot be, and no attempt would help. A number that is not in flight is ignored.
    package mutating func abandoned(_ number: UInt64, _ failure: PushFailure, at now: MonotonicTime) -> [Action] {
        guard case .inFlight? = entries[number]?.stage else { return [] }
        inFlight -= 1
        return giveUp(number, failure) + start(at: now)
    }

    /// Nobody wants a push any more. One that is in flight is not sent again; any other has ended.
    package mutating func withdraw(_ number: UInt64) -> [Action] {
        guard let entry = entries[number] else { return [] }
        if case .inFlight = entry.stage {
            entries[number]?.isWithdrawn = true
            return []
        }
        defer { forgetEnded() }
        return end(number, .givenUp(.withdrawn(last: entry.lastReason)))
    }

    /// Gives up the latest push that has not left and is not urgent, since another push needs its place. If there is
    /// none, it is the latest urgent one that has not left.
    ///
    /// - Parameter onlyOthers: nothing happens if all that have not left are urgent.
    package mutating func giveUpLatest(onlyOthers: Bool = false) -> [Action] {
        let other = latestNumber { !$0.isInFlight && !$0.isUrgent }
        guard let found = other ?? (onlyOthers ? nil : latestNumber { !$0.isInFlight }) else { return [] }
        defer { forgetEnded() }
        return giveUp(found, .overloaded(last: nil))
    }

    /// What credentials are made of has changed: a new one is asked for, while the old one is used.
    package mutating func credentialReplaced() -> [Action] {
        guard needsCredential, credential != .none, !isAsking else { return [] }
        isAsking = true
        credentialTime = nil
        return [.obtainCredential]
    }

    /// There is a new credential.
    ///
    /// - Parameter renewal: after which time another one is asked for, while this one is still good; `nil`: it lasts.
    package mutating func credentialObtained(renewal: Duration?, at now: MonotonicTime) -> [Action] {
        credentialCount += 1
        credential = .ready(credentialCount)
        isAsking = false
        credentialTime = renewal.map { now + $0 }
        return start(at: now)
    }

    /// There is no new credential.
    ///
    /// - Parameter isFinal: whether another attempt would fail as well, such as without a key. What waits is then given
    ///   up, and the next push asks again. An old credential is still used.
    package mutating func credentialFailed(_ reason: String, isFinal: Bool, at now: MonotonicTime) -> [Action] {
        isAsking = false
        credentialTime = now + configuration.credentialDelay
        guard credential == .requested else { return [] }
        guard isFinal else {
            for number in waiting.numbers { entries[number]?.lastReason = reason }
            return []
        }
        credential = .none
        credentialTime = nil
        return waiting.removeAll { entries[$0]?.stage == .waiting }
            .flatMap { giveUp($0, .credential(reason: reason)) }
    }

    /// Some deadline has come.
    package mutating func timeout(at now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        while let number = deadlines.popDue(at: now) {
            switch entries[number]?.stage {
            case .paused: actions += wait(number, first: true, at: now)
            case .waiting:
                actions += expire(number)
                forgetEnded()
            case .inFlight, nil: break
            }
        }
        if let time = credentialTime, time <= now, !isAsking {
            credentialTime = nil
            if credential != .none {
                isAsking = true
                actions.append(.obtainCredential)
            }
        }
        return actions
    }

    /// Gives up everything, also what is in flight.
    package mutating func shutDown() -> [Action] {
        let numbers = entries.keys.sorted()
        return numbers.flatMap { end($0, .givenUp(.shutDown)) }
    }

    /// When ``timeout(at:)`` is to be called; `nil`: never.
    package var nextDeadline: MonotonicTime? {
        mutating get {
            guard let earliest = deadlines.earliest else { return credentialTime }
            return credentialTime.map { min($0, earliest) } ?? earliest
        }
    }

    // MARK: Parts

    /// Sends a push if there is room and a credential, and else lets it wait.
    private mutating func wait(_ number: UInt64, first: Bool, at now: MonotonicTime) -> [Action] {
        guard let entry = entries[number] else { return [] }
        entries[number]?.stage = .waiting
        if waiting.isEmpty, inFlight < configuration.inFlight, case .ready(let generation) = credential {
            return launch(number, generation, at: now)
        }
        if first {
            waiting.prepend(number, isUrgent: entry.isUrgent)
        } else {
            waiting.append(number, isUrgent: entry.isUrgent)
        }
        deadlines.set(entry.deadline, for: number)
        deadlines.discardMoved()
        return start(at: now)
    }

    /// Sends what waits, as far as there is room, or asks for the credential that it needs.
    private mutating func start(at now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        while !waiting.isEmpty {
            switch credential {
            case .ready(let generation):
                guard inFlight < configuration.inFlight, let number = waiting.popFirst() else { return actions }
                // A number whose push has ended meanwhile is left in the queue.
                guard entries[number]?.stage == .waiting else { continue }
                actions += launch(number, generation, at: now)
            case .none:
                credential = .requested
                isAsking = true
                return actions + [.obtainCredential]
            case .requested:
                return actions
            }
        }
        return actions
    }

    private mutating func launch(_ number: UInt64, _ generation: Int, at now: MonotonicTime) -> [Action] {
        deadlines.set(nil, for: number)
        guard let deadline = entries[number]?.deadline, deadline > now else { return expire(number) }
        entries[number]?.stage = .inFlight(credential: generation)
        entries[number]?.attempts += 1
        inFlight += 1
        return [.send(number)]
    }

    private mutating func pause(
        _ number: UInt64, _ reason: String, _ delay: Duration?, at now: MonotonicTime,
        random: inout some RandomSource
    ) -> [Action] {
        guard let entry = entries[number] else { return [] }
        entries[number]?.lastReason = reason
        entries[number]?.doubt = reason
        let next = configuration.retries.next(
            after: entry.attempts, of: entry.lifetime, least: delay, deadline: entry.deadline, now: now,
            random: &random)
        guard let next else { return expire(number) }
        entries[number]?.stage = .paused
        deadlines.set(next, for: number)
        return []
    }

    private mutating func renew(_ number: UInt64, _ reason: String, _ generation: Int, at now: MonotonicTime)
        -> [Action]
    {
        guard let entry = entries[number], !entry.hasRenewed, needsCredential else {
            return giveUp(number, .credential(reason: reason))
        }
        entries[number]?.hasRenewed = true
        entries[number]?.lastReason = reason
        entries[number]?.stage = .waiting
        waiting.prepend(number, isUrgent: entry.isUrgent)
        deadlines.set(entry.deadline, for: number)
        guard credential == .ready(generation) else { return [] }
        credential = .requested
        credentialTime = nil
        guard !isAsking else { return [] }
        isAsking = true
        return [.obtainCredential]
    }

    /// Removes the numbers of pushes that have ended while they waited. Nobody may look for them for long while a
    /// provider is down.
    private mutating func forgetEnded() {
        if waiting.count > 2 * entries.count + 64 { waiting.keep { entries[$0]?.stage == .waiting } }
    }

    private mutating func expire(_ number: UInt64) -> [Action] {
        end(number, .givenUp(.expired(last: entries[number]?.lastReason)))
    }

    /// Gives up a push for a reason of which the queue does not know whether the push may have arrived before.
    private mutating func giveUp(_ number: UInt64, _ failure: PushFailure) -> [Action] {
        end(number, .givenUp(failure.after(entries[number]?.doubt)))
    }

    private mutating func end(_ number: UInt64, _ outcome: PushOutcome) -> [Action] {
        entries[number] = nil
        deadlines.set(nil, for: number)
        return [.ended(number, outcome)]
    }
}
