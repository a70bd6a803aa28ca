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
        /// How often one caller wakes a user's devices: an account, an application with all its addresses, or the
        /// guests from one network.
        package var perCaller: RateAllowance.Rate
        /// How often guests wake a user's devices, all of them together. It is to be less than `perUser`, so that they
        /// leave something to accounts.
        package var guests: RateAllowance.Rate

        /// Makes a configuration of its parts; each parameter is the property of that name.
        package init(
            perUser: RateAllowance.Rate = .init(burst: 10, interval: .seconds(30)),
            perCaller: RateAllowance.Rate = .init(burst: 5, interval: .seconds(60)),
            guests: RateAllowance.Rate = .init(burst: 8, interval: .seconds(60))
        ) {
            self.perUser = perUser
            self.perCaller = perCaller
            self.guests = guests
        }
    }

    private var user = RateAllowance()
    private var guests = RateAllowance()
    /// Only callers with a debt: no more than the user's own limit has let through of late.
    private var callers: [Waker: RateAllowance] = [:]

    /// Makes an allowance without debt.
    package init() {}

    /// The time at which all debts are gone; `nil` if there is none.
    var clearAt: MonotonicTime? {
        ([user, guests] + callers.values).compactMap(\.clearAt).max()
    }

    /// Counts a wake if it is allowed now.
    ///
    /// - Returns: the limit that forbids it, in which case it is not counted; `nil`: it is allowed.
    mutating func charge(
        _ waker: Waker, _ configuration: Configuration, at now: MonotonicTime
    ) -> WakeRefusal? {
        timeout(at: now)
        var (charged, strangers, caller) = (user, guests, callers[waker] ?? RateAllowance())
        guard caller.charge(configuration.perCaller, at: now) == nil else { return .caller }
        if waker.isGuest, strangers.charge(configuration.guests, at: now) != nil { return .guests }
        guard charged.charge(configuration.perUser, at: now) == nil else { return .user }
        (user, guests, callers[waker]) = (charged, strangers, caller)
        return nil
    }

    /// Forgets debts that are gone.
    mutating func timeout(at now: MonotonicTime) {
        user.timeout(at: now)
        guests.timeout(at: now)
        for waker in callers.keys {
            callers[waker]?.timeout(at: now)
            if callers[waker]?.clearAt == nil { callers[waker] = nil }
        }
    }
}

/// Who wakes devices, for limits. A guest can come again as another guest, but not as easily from another network.
enum Waker: Hashable, Sendable {
    /// The user with this account.
    case account(UserAddress)
    /// The application of this name, whichever of its addresses it calls from: it may own all of a domain.
    case application(ApplicationName)
    /// The guests from one network.
    case network(SourceNetwork)
    /// A guest from an unknown network.
    case guest(GuestID)

    init(_ user: UserAddress, from network: SourceNetwork?, of application: ApplicationName?) {
        if let application {
            self = .application(application)
        } else if let guest = user.guest {
            self = network.map { .network($0) } ?? .guest(guest)
        } else {
            self = .account(user)
        }
    }

    /// Whether it is neither an account nor an application.
    var isGuest: Bool {
        switch self {
        case .account, .application: false
        case .network, .guest: true
        }
    }
}
