package import CallControl
package import Primitives

/// Which credentials the slow hash has accepted, so that it need not run again for every request.
///
/// Only a keyed digest of the header is kept, under a key that lives and dies with the process. An entry belongs to
/// the stored password record it was checked against: once `revalidation` has passed, the record is read again, and a
/// changed or removed one ends the entry. A password changed by another process (the command line) is therefore
/// refused after at most that time.
package struct VerifiedCredentials: Sendable {
    package enum Finding: Equatable, Sendable {
        /// Accepted a moment ago.
        case known(UserAddress)
        /// Accepted, if the stored record is still this one.
        case knownFor(UserAddress, record: String)
        case unknown
    }

    private struct Entry {
        var digest: CredentialDigest
        var user: UserAddress
        var record: String
        var readAt: MonotonicTime
    }

    private let revalidation: Duration
    private let capacity: Int
    private var entries: [UInt64: Entry] = [:]

    /// - Parameter capacity: beyond it, those that were not used for longest are forgotten.
    package init(revalidation: Duration, capacity: Int) {
        precondition(capacity >= 2, "at least two users can be logged in")
        self.revalidation = revalidation
        self.capacity = capacity
    }

    /// `.knownFor` is said once per period: requests that follow are `.known` while the record is being read.
    package mutating func find(_ digest: CredentialDigest, at now: MonotonicTime) -> Finding {
        guard let entry = entries[digest.tag], entry.digest.matches(digest) else { return .unknown }
        guard now - entry.readAt >= revalidation else { return .known(entry.user) }
        entries[digest.tag]?.readAt = now
        return .knownFor(entry.user, record: entry.record)
    }

    package mutating func insert(_ digest: CredentialDigest, of user: UserAddress, checkedAgainst record: String, at now: MonotonicTime) {
        if entries.count >= capacity {
            let keep = entries.sorted { $0.value.readAt > $1.value.readAt }.prefix(capacity / 2)
            entries = Dictionary(uniqueKeysWithValues: keep.map { ($0.key, $0.value) })
        }
        entries[digest.tag] = Entry(digest: digest, user: user, record: record, readAt: now)
    }

    package mutating func remove(_ digest: CredentialDigest) {
        entries[digest.tag] = nil
    }
}
