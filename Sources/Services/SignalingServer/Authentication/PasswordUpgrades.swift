package import CallControl
package import Cryptography
package import Primitives

/// Decides which password is hashed anew because its record costs less than records cost now.
///
/// Only a login shows the password, so a record is replaced after a login. One password is hashed at a time, and only
/// while no login waits or is being checked. Between two of them is a pause of ``pause`` times the duration of the last
/// one. A login that was left out is considered again when the account is read next.
package struct PasswordUpgrades: Sendable {
    /// The cost that a record should have at least.
    package let cost: PasswordHash.Cost
    /// The account whose password is being hashed; `nil`: none.
    package private(set) var current: UserAddress?
    private var startedAt = MonotonicTime.zero
    private var pausedUntil = MonotonicTime.zero

    /// How long the pause after a hash is, as a multiple of the hash. One password after the other then takes a fifth
    /// of a thread.
    package static let pause = 4

    /// Makes a list without an upgrade under way.
    package init(to cost: PasswordHash.Cost) { self.cost = cost }

    /// Whether the password of an account whose login was accepted should be hashed anew now. A record that cannot be
    /// read belongs to no password.
    ///
    /// - Parameters:
    ///   - record: the stored record that the password belongs to.
    ///   - isIdle: whether no other login waits or is being checked.
    package func isDue(_ record: String, whileIdle isIdle: Bool, at now: MonotonicTime) -> Bool {
        guard isIdle, current == nil, now >= pausedUntil else { return false }
        return PasswordHash(parsing: record).map { $0.cost.work < cost.work } ?? false
    }

    /// Notes that the password of an account is being hashed anew; ``finished(at:)`` must follow.
    package mutating func started(_ user: UserAddress, at now: MonotonicTime) {
        precondition(current == nil, "one password is hashed anew at a time")
        (current, startedAt) = (user, now)
    }

    /// Ends the upgrade, whatever came of it.
    package mutating func finished(at now: MonotonicTime) {
        current = nil
        pausedUntil = now + (now - startedAt) * Self.pause
    }
}
