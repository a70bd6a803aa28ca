package import CallControl
package import Primitives

/// Which credentials the slow hash has accepted, so that it need not run again for every request.
///
/// Only a keyed digest of the header is kept. An entry belongs to the stored password record it was checked against:
/// once `revalidation` has passed, the record is read again, and a changed or removed one ends the entry. A password
/// changed by another process (the command line) is therefore refused after at most that time. Entries that come from
/// before a restart are good for nothing until the record has been read.
package struct VerifiedCredentials: Sendable {
    package enum Finding: Equatable, Sendable {
        /// Accepted a moment ago.
        case known(UserAddress)
        /// Accepted, if the stored record still has this mark.
        case knownFor(UserAddress, record: CredentialDigest.RecordMark)
        case unknown
    }

    private struct Entry {
        var digest: CredentialDigest
        var user: UserAddress
        var record: CredentialDigest.RecordMark
        /// `nil`: remembered from before the start.
        var readAt: MonotonicTime?
        /// The last of the networks that they came from.
        var network: SourceNetwork?
        /// Seconds since 1970 at which a restart forgets them; 0 if any restart does.
        var expires: Int64
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

    /// Whose credentials these are, and whether that network was the last they came from.
    package func holder(of digest: CredentialDigest, from network: SourceNetwork?) -> (
        user: UserAddress, isUsualNetwork: Bool
    )? {
        guard let entry = entries[digest.tag], entry.digest.matches(digest) else { return nil }
        return (entry.user, network != nil && entry.network == network)
    }

    /// `.knownFor` is said once per period: requests that follow are `.known` while the record is being read.
    package mutating func find(_ digest: CredentialDigest, at now: MonotonicTime) -> Finding {
        guard let entry = entries[digest.tag], entry.digest.matches(digest) else { return .unknown }
        guard let readAt = entry.readAt else { return .knownFor(entry.user, record: entry.record) }
        guard now - readAt >= revalidation else { return .known(entry.user) }
        entries[digest.tag]?.readAt = now
        return .knownFor(entry.user, record: entry.record)
    }

    /// The record has been read and is still the same.
    ///
    /// - Returns: whether that was the first time since the start.
    package mutating func confirm(_ digest: CredentialDigest, at now: MonotonicTime) -> Bool {
        guard entries[digest.tag]?.readAt == nil else { return false }
        entries[digest.tag]?.readAt = now
        return entries[digest.tag] != nil
    }

    package mutating func insert(
        _ digest: CredentialDigest, of user: UserAddress, checkedAgainst record: CredentialDigest.RecordMark,
        at now: MonotonicTime
    ) {
        makeRoom()
        entries[digest.tag] = Entry(digest: digest, user: user, record: record, readAt: now, expires: 0)
    }

    /// What was accepted before the start.
    package mutating func restore(
        _ digest: CredentialDigest, of user: UserAddress, checkedAgainst record: CredentialDigest.RecordMark,
        expires: Int64
    ) {
        makeRoom()
        entries[digest.tag] = Entry(digest: digest, user: user, record: record, readAt: nil, expires: expires)
    }

    /// They come from this network now.
    ///
    /// - Returns: whether it is another one than last time.
    package mutating func came(_ digest: CredentialDigest, from network: SourceNetwork?) -> Bool {
        guard let entry = entries[digest.tag], entry.network != network else { return false }
        entries[digest.tag]?.network = network
        return true
    }

    /// Moves the end of what a restart does not forget, if that gains more than `renewal` seconds.
    ///
    /// - Returns: the mark of the record, if the end was moved.
    package mutating func renew(_ digest: CredentialDigest, until expires: Int64, renewal: Int64) -> CredentialDigest
        .RecordMark?
    {
        guard let entry = entries[digest.tag], expires - entry.expires > renewal else { return nil }
        entries[digest.tag]?.expires = expires
        return entry.record
    }

    package mutating func remove(_ digest: CredentialDigest) {
        entries[digest.tag] = nil
    }

    private mutating func makeRoom() {
        guard entries.count >= capacity else { return }
        let keep = entries.sorted { $0.value.readAt ?? .zero > $1.value.readAt ?? .zero }.prefix(capacity / 2)
        entries = Dictionary(uniqueKeysWithValues: keep.map { ($0.key, $0.value) })
    }
}
