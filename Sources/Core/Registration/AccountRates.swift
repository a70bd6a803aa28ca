package import CallControl
package import Primitives

/// How often the users have asked for subscriptions of late, so that one account leaves something of the rate of its
/// network to others.
package struct AccountRates: Equatable, Sendable {
    private let rate: RateAllowance.Rate
    private var accounts: [UserAddress: RateAllowance] = [:]
    /// With so many accounts, those are forgotten that owe nothing.
    private var nextCleanup = Self.cleanup

    private static let cleanup = 1_000

    /// Makes a table of users who have asked for nothing.
    package init(_ rate: RateAllowance.Rate) { self.rate = rate }

    /// How many users are remembered.
    package var count: Int { accounts.count }

    /// Counts a request for a subscription, whatever it comes to.
    ///
    /// - Throws: `tooOften`.
    package mutating func charge(_ user: UserAddress, at now: MonotonicTime) throws(RegistrationError) {
        if accounts.count >= nextCleanup {
            accounts = accounts.filter { $0.value.clearAt.map { $0 > now } ?? false }
            nextCleanup = max(Self.cleanup, 2 * accounts.count)
        }
        if let wait = accounts[user, default: RateAllowance()].charge(rate, at: now) {
            throw .tooOften(retryAfter: wait)
        }
    }
}
