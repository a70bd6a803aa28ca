package import CallControl
package import Primitives

/// Limits how often passwords are tried: per account and network together, per network, and per account.
///
/// Each limit is a generic cell rate algorithm. A key owes one `interval` per failure, and is refused while it owes
/// more than `burst` of them. Attempts whose result is not known yet count like failures, so that many at once do not
/// slip through. A request that is stopped by such attempts alone is told to come back, not that too much has failed.
///
/// A network is *familiar* to an account if a user has logged in to the account from there. Other networks are
/// *strangers*. A stranger owes for the account and network, for the network, for the IPv6 site, and for the account as
/// a whole. A familiar network owes for itself and the account only. So nobody can close an account for its owner from
/// elsewhere, nor can many networks together guess at one account without end.
///
/// Comparing credentials with remembered ones is a guess as well, although a cheap one; see
/// ``permitsRecall(_:isFamiliar:at:)``. Addresses that were never registered are treated like those that were.
package struct LoginThrottle: Sendable {
    /// The parameters of one limit.
    package struct Rate: Equatable, Sendable {
        /// How many failures are allowed in a row, at least 1.
        package var burst: Int
        /// The time after which one more failure is allowed.
        package var interval: Duration

        /// Makes a rate of its parts.
        package init(burst: Int, interval: Duration) {
            self.burst = burst
            self.interval = interval
        }
    }

    /// The limits for each kind of key.
    package struct Configuration: Equatable, Sendable {
        /// For an account from one network.
        package var claim = Rate(burst: 5, interval: .seconds(10))
        /// For an account from one strange network, over a longer time. One network alone never uses up what the
        /// account allows all of them.
        package var strangerClaim = Rate(burst: 20, interval: .seconds(180))
        /// For one network. Larger than for a claim, since an office may share one address.
        package var network = Rate(burst: 30, interval: .seconds(2))
        /// For all networks in one IPv6 site together. An IPv4 network is a site of its own.
        package var site = Rate(burst: 300, interval: .milliseconds(200))
        /// For an account from all strange networks together.
        package var account = Rate(burst: 100, interval: .seconds(36))
        /// For a familiar claim, by credentials that are only compared with remembered ones.
        package var familiarRecall = Rate(burst: 600, interval: .seconds(1))
        /// For a stranger's claim, by credentials that are only compared with remembered ones.
        package var claimRecall = Rate(burst: 10, interval: .seconds(10))
        /// For an account by all strangers' claims, by credentials that are only compared with remembered ones.
        package var accountRecall = Rate(burst: 1_000, interval: .milliseconds(3_600))
        /// How many keys of each kind are remembered. Those that owe least are forgotten first.
        package var capacity = 10_000

        /// Makes a configuration with the default values.
        package init() {}
    }

    /// Whether something may happen that is charged at once.
    package enum Verdict: Equatable, Sendable {
        /// It may happen, and is charged.
        case allowed
        /// Not now, since the limit is used up: `retryAfter` is the time until it may be asked again.
        case refused(retryAfter: Duration)
    }

    /// Whether a password may be tried.
    package enum Admission: Equatable, Sendable {
        /// It may be tried. ``succeeded(_:)``, ``failed(_:at:)`` or ``withdrawn(_:at:)`` must follow.
        case allowed(Attempt)
        /// Not now: attempts under way may use up what the limits allow.
        case pending
        /// Not now: too many attempts have failed.
        case refused(retryAfter: Duration)
    }

    /// A password that is being tried.
    package struct Attempt: Equatable, Sendable {
        fileprivate let claim: Claim
        fileprivate let isFamiliar: Bool
    }

    private var claims: RateLimiter<Claim>
    private var strangerClaims: RateLimiter<Claim>
    private var networks: RateLimiter<SourceNetwork>
    private var sites: RateLimiter<SourceNetwork>
    private var accounts: RateLimiter<UserAddress>
    private var familiarRecalls: RateLimiter<Claim>
    private var claimRecalls: RateLimiter<Claim>
    private var accountRecalls: RateLimiter<UserAddress>
    private var claimsInFlight = InFlight<Claim>()
    private var networksInFlight = InFlight<SourceNetwork>()
    private var sitesInFlight = InFlight<SourceNetwork>()
    private var accountsInFlight = InFlight<UserAddress>()

    /// Makes a throttle that has seen no attempts.
    package init(_ configuration: Configuration = Configuration()) {
        claims = RateLimiter(configuration.claim, capacity: configuration.capacity)
        strangerClaims = RateLimiter(configuration.strangerClaim, capacity: configuration.capacity)
        networks = RateLimiter(configuration.network, capacity: configuration.capacity)
        sites = RateLimiter(configuration.site, capacity: configuration.capacity)
        accounts = RateLimiter(configuration.account, capacity: configuration.capacity)
        familiarRecalls = RateLimiter(configuration.familiarRecall, capacity: configuration.capacity)
        claimRecalls = RateLimiter(configuration.claimRecall, capacity: configuration.capacity)
        accountRecalls = RateLimiter(configuration.accountRecall, capacity: configuration.capacity)
    }

    /// Whether credentials may be compared with remembered ones. Where they may not, right credentials look like wrong
    /// ones.
    ///
    /// The credentials of a stranger may be compared as long as the password might be checked, and a little beyond.
    /// Credentials from a familiar network have a much larger limit, since the owner is among the clients there.
    package func permitsRecall(_ claim: Claim, isFamiliar: Bool, at now: MonotonicTime) -> Bool {
        if isFamiliar { return familiarRecalls.wait(claim, at: now) <= .zero }
        return claims.wait(claim, at: now) <= .zero && strangerClaims.wait(claim, at: now) <= .zero
            && accounts.wait(claim.account, at: now) <= .zero
            && claimRecalls.wait(claim, at: now) <= .zero && accountRecalls.wait(claim.account, at: now) <= .zero
    }

    /// Decides whether a password may be tried, and counts the attempt if it may.
    package mutating func attempt(_ claim: Claim, isFamiliar: Bool, at now: MonotonicTime) -> Admission {
        var owed = claims.wait(claim, at: now)
        var possible = claims.wait(claim, at: now, adding: claimsInFlight[claim])
        if !isFamiliar {
            owed = max(owed, strangerClaims.wait(claim, at: now), accounts.wait(claim.account, at: now))
            possible = max(possible, accounts.wait(claim.account, at: now, adding: accountsInFlight[claim.account]))
            if let network = claim.network {
                owed = max(owed, networks.wait(network, at: now), sites.wait(network.site, at: now))
                possible = max(
                    possible, networks.wait(network, at: now, adding: networksInFlight[network]),
                    sites.wait(network.site, at: now, adding: sitesInFlight[network.site]))
            }
        }
        guard owed <= .zero, possible <= .zero else {
            chargeRecall(claim, isFamiliar: isFamiliar, at: now)
            return owed > .zero ? .refused(retryAfter: owed) : .pending
        }
        count(Attempt(claim: claim, isFamiliar: isFamiliar), by: 1)
        return .allowed(Attempt(claim: claim, isFamiliar: isFamiliar))
    }

    /// Ends an attempt without charge: the password was right, or it could not be checked.
    package mutating func succeeded(_ attempt: Attempt) { count(attempt, by: -1) }

    /// Ends an attempt with a wrong password, and charges for it.
    package mutating func failed(_ attempt: Attempt, at now: MonotonicTime) {
        count(attempt, by: -1)
        let claim = attempt.claim
        claims.charge(claim, at: now)
        guard !attempt.isFamiliar else { return }
        strangerClaims.charge(claim, at: now)
        accounts.charge(claim.account, at: now)
        guard let network = claim.network else { return }
        networks.charge(network, at: now)
        sites.charge(network.site, at: now)
    }

    /// Ends an attempt in which the password was not tried after all. The comparison with remembered credentials is
    /// charged.
    package mutating func withdrawn(_ attempt: Attempt, at now: MonotonicTime) {
        count(attempt, by: -1)
        chargeRecall(attempt.claim, isFamiliar: attempt.isFamiliar, at: now)
    }

    /// Charges a network, and its site, for credentials that belong to nobody: as much as for a wrong password.
    package mutating func chargeForgery(from network: SourceNetwork?, at now: MonotonicTime) -> Verdict {
        guard let network else { return .allowed }
        let owed = max(networks.wait(network, at: now), sites.wait(network.site, at: now))
        if owed > .zero { return .refused(retryAfter: owed) }
        networks.charge(network, at: now)
        sites.charge(network.site, at: now)
        return .allowed
    }

    /// Charges for a comparison with remembered credentials that no password check followed.
    private mutating func chargeRecall(_ claim: Claim, isFamiliar: Bool, at now: MonotonicTime) {
        guard permitsRecall(claim, isFamiliar: isFamiliar, at: now) else { return }
        if isFamiliar {
            familiarRecalls.charge(claim, at: now)
        } else {
            claimRecalls.charge(claim, at: now)
            accountRecalls.charge(claim.account, at: now)
        }
    }

    private mutating func count(_ attempt: Attempt, by change: Int) {
        claimsInFlight.add(change, to: attempt.claim)
        guard !attempt.isFamiliar else { return }
        accountsInFlight.add(change, to: attempt.claim.account)
        guard let network = attempt.claim.network else { return }
        networksInFlight.add(change, to: network)
        sitesInFlight.add(change, to: network.site)
    }
}

/// How many attempts are under way for each key. Keys without attempts are not kept.
private struct InFlight<Key: Hashable & Sendable>: Sendable {
    private var counts: [Key: Int] = [:]

    subscript(key: Key) -> Int { counts[key] ?? 0 }

    mutating func add(_ change: Int, to key: Key) {
        let count = self[key] + change
        precondition(count >= 0, "an attempt ends once")
        counts[key] = count == 0 ? nil : count
    }
}

extension LoginThrottle {
    /// A claim to be the owner of an account, and the network it comes from.
    package struct Claim: Hashable, Sendable {
        /// The account that is claimed.
        package let account: UserAddress
        /// Where the claim comes from. `nil`: not known, as over a socket without addresses.
        package let network: SourceNetwork?

        /// Makes a claim of its parts.
        package init(_ account: UserAddress, from network: SourceNetwork?) {
            self.account = account
            self.network = network
        }
    }
}
