import CallControl
package import Primitives

/// How often a password may be tried: budgets per account and network together, per network, and per account.
///
/// Each budget is a generic cell rate algorithm: a key owes one `interval` per failure, and is refused while it owes
/// more than `burst` of them. Attempts whose result is not known yet count like failures, so that many at once do not
/// slip through; whoever meets only those is told to come back, not that too much has failed.
///
/// A network is *familiar* to an account if somebody has logged in to the account from there. Strangers owe for
/// the account and network, for the network, for the IPv6 site, and for the account as a whole. A familiar network
/// owes for itself and the account only. So nobody can close an account for its owner from elsewhere, nor can many
/// networks together guess at one account without end.
///
/// Comparing credentials with those that are remembered is a guess as well, although a cheap one; see
/// ``permitsRecall(_:isFamiliar:at:)``. Addresses that were never registered are treated like those that were.
package struct LoginThrottle: Sendable {
    package struct Rate: Equatable, Sendable {
        /// Failures allowed in a row, at least 1.
        package var burst: Int
        /// Time after which one more failure is allowed.
        package var interval: Duration

        package init(burst: Int, interval: Duration) {
            self.burst = burst
            self.interval = interval
        }
    }

    package struct Configuration: Equatable, Sendable {
        /// Of an account from one network.
        package var claim = Rate(burst: 5, interval: .seconds(10))
        /// The same over a longer time, of strangers: one network alone never uses up what an account has for all of
        /// them.
        package var strangerClaim = Rate(burst: 20, interval: .seconds(180))
        /// Larger than for a claim: an office may share one address.
        package var network = Rate(burst: 30, interval: .seconds(2))
        /// Of all the networks in one IPv6 site; for IPv4 a site is a network.
        package var site = Rate(burst: 300, interval: .milliseconds(200))
        /// Of an account from all networks that are not familiar to it.
        package var account = Rate(burst: 100, interval: .seconds(36))
        /// Of a familiar claim, by credentials that are only compared with remembered ones.
        package var familiarRecall = Rate(burst: 600, interval: .seconds(1))
        /// Of a stranger's claim, by the same.
        package var claimRecall = Rate(burst: 10, interval: .seconds(10))
        /// Of an account by all strangers' claims, by the same.
        package var accountRecall = Rate(burst: 1_000, interval: .milliseconds(3_600))
        /// Keys remembered of each kind; the least indebted are forgotten first.
        package var capacity = 10_000

        package init() {}
    }

    package enum Verdict: Equatable, Sendable {
        case allowed
        case refused(retryAfter: Duration)
    }

    package enum Admission: Equatable, Sendable {
        /// ``succeeded(_:)``, ``failed(_:at:)`` or ``withdrawn(_:at:)`` must follow.
        case allowed(Attempt)
        /// The attempts that are being made may use up what is left.
        case pending
        /// Too much has failed.
        case refused(retryAfter: Duration)
    }

    /// A password that is being tried.
    package struct Attempt: Equatable, Sendable {
        fileprivate let claim: Claim
        fileprivate let isFamiliar: Bool
    }

    private var claims: Debts<Claim>
    private var strangerClaims: Debts<Claim>
    private var networks: Debts<SourceNetwork>
    private var sites: Debts<SourceNetwork>
    private var accounts: Debts<UserAddress>
    private var familiarRecalls: Debts<Claim>
    private var claimRecalls: Debts<Claim>
    private var accountRecalls: Debts<UserAddress>
    private var claimsInFlight = InFlight<Claim>()
    private var networksInFlight = InFlight<SourceNetwork>()
    private var sitesInFlight = InFlight<SourceNetwork>()
    private var accountsInFlight = InFlight<UserAddress>()

    package init(_ configuration: Configuration = Configuration()) {
        claims = Debts(configuration.claim, capacity: configuration.capacity)
        strangerClaims = Debts(configuration.strangerClaim, capacity: configuration.capacity)
        networks = Debts(configuration.network, capacity: configuration.capacity)
        sites = Debts(configuration.site, capacity: configuration.capacity)
        accounts = Debts(configuration.account, capacity: configuration.capacity)
        familiarRecalls = Debts(configuration.familiarRecall, capacity: configuration.capacity)
        claimRecalls = Debts(configuration.claimRecall, capacity: configuration.capacity)
        accountRecalls = Debts(configuration.accountRecall, capacity: configuration.capacity)
    }

    /// Whether credentials may be compared with those that are remembered. Where not, right ones look like wrong ones.
    ///
    /// Strangers may as long as their password might be checked, and a little beyond. Familiar networks have a much
    /// larger budget: the owner is among those who ask from there.
    package func permitsRecall(_ claim: Claim, isFamiliar: Bool, at now: MonotonicTime) -> Bool {
        if isFamiliar { return familiarRecalls.wait(claim, at: now) <= .zero }
        return claims.wait(claim, at: now) <= .zero && strangerClaims.wait(claim, at: now) <= .zero
            && accounts.wait(claim.account, at: now) <= .zero
            && claimRecalls.wait(claim, at: now) <= .zero && accountRecalls.wait(claim.account, at: now) <= .zero
    }

    /// A password is about to be tried.
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

    package mutating func succeeded(_ attempt: Attempt) { count(attempt, by: -1) }

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

    /// The password was not tried after all.
    package mutating func withdrawn(_ attempt: Attempt, at now: MonotonicTime) {
        count(attempt, by: -1)
        chargeRecall(attempt.claim, isFamiliar: attempt.isFamiliar, at: now)
    }

    /// Credentials were compared with the remembered ones and no password was checked after it.
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

/// How many attempts are under way for each key; those without are not kept.
private struct InFlight<Key: Hashable & Sendable>: Sendable {
    private var counts: [Key: Int] = [:]

    subscript(key: Key) -> Int { counts[key] ?? 0 }

    mutating func add(_ change: Int, to key: Key) {
        let count = self[key] + change
        precondition(count >= 0, "an attempt ends once")
        counts[key] = count == 0 ? nil : count
    }
}
