package import CallControl
package import Primitives

/// Which credentials the slow hash has accepted, so that it need not run again for every request.
///
/// Only a keyed digest of name and password is kept, under a key that lives and dies with the process. An entry
/// belongs to the stored password record it was checked against: once `revalidation` has passed, the record is
/// read again, and a changed or removed one ends the entry. A password changed by another process (the command
/// line) is therefore refused after at most that time.
package struct VerifiedCredentials: Sendable {
    package enum Finding: Equatable, Sendable {
        /// Accepted a moment ago.
        case known
        /// Accepted, if the stored record is still this one.
        case knownFor(record: String)
        case unknown
    }

    private struct Entry {
        var digest: CredentialDigest
        var record: String
        var readAt: MonotonicTime
    }

    private let revalidation: Duration
    private var entries: [UserAddress: Entry] = [:]

    package init(revalidation: Duration) { self.revalidation = revalidation }

    /// `.knownFor` is said once per period: requests that follow are `.known` while the record is being read.
    package mutating func find(_ user: UserAddress, _ digest: CredentialDigest, at now: MonotonicTime) -> Finding {
        guard let entry = entries[user], entry.digest.matches(digest) else { return .unknown }
        guard now - entry.readAt >= revalidation else { return .known }
        entries[user]?.readAt = now
        return .knownFor(record: entry.record)
    }

    package mutating func insert(_ user: UserAddress, _ digest: CredentialDigest, checkedAgainst record: String, at now: MonotonicTime) {
        entries[user] = Entry(digest: digest, record: record, readAt: now)
    }

    package mutating func remove(_ user: UserAddress) {
        entries[user] = nil
    }
}
