import CallControl
package import Primitives

/// How often the devices of a user that are asleep are woken for calls.
///
/// A wake is one call that wakes devices, however many. Without a limit a caller could ring a phone all night that its
/// user has laid aside.
package struct WakeAllowance: Equatable, Sendable {
    /// The limits.
    package struct Configuration: Equatable, Sendable {
        /// How often a user's devices are woken, by all callers together.
        package var perUser: RateAllowance.Rate
        /// How often one caller wakes a user's devices; all guests count as one caller.
        package var perCaller: RateAllowance.Rate

        /// Makes a configuration of its parts; each parameter is the property of that name.
        package init(
            perUser: RateAllowance.Rate = .init(burst: 10, interval: .seconds(30)),
            perCaller: RateAllowance.Rate = .init(burst: 5, interval: .seconds(60))
        ) {
            self.perUser = perUser
            self.perCaller = perCaller
        }
    }

    private var user = RateAllowance()
    /// Only callers with a debt: no more than the user's own limit has let through of late.
    private var callers: [Ringer: RateAllowance] = [:]

    /// Makes an allowance without debt.
    package init() {}

    /// The time at which all debts are gone; `nil` if there is none.
    var clearAt: MonotonicTime? { callers.values.compactMap(\.clearAt).reduce(user.clearAt) { max($0 ?? $1, $1) } }

    /// Counts a wake if it is allowed now.
    ///
    /// - Returns: the limit that forbids it, in which case it is not counted; `nil`: it is allowed.
    mutating func charge(
        _ ringer: Ringer, _ configuration: Configuration, at now: MonotonicTime
    ) -> WakeRefusal? {
        timeout(at: now)
        var (charged, caller) = (user, callers[ringer] ?? RateAllowance())
        guard caller.charge(configuration.perCaller, at: now) == nil else { return .caller }
        guard charged.charge(configuration.perUser, at: now) == nil else { return .user }
        (user, callers[ringer]) = (charged, caller)
        return nil
    }

    /// Forgets debts that are gone.
    mutating func timeout(at now: MonotonicTime) {
        user.timeout(at: now)
        for ringer in callers.keys {
            callers[ringer]?.timeout(at: now)
            if callers[ringer]?.clearAt == nil { callers[ringer] = nil }
        }
    }
}
