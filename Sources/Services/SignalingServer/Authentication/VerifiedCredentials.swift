package import CallControl
package import Primitives

/// The credentials that the slow hash has accepted, so that it need not run again for every request.
///
/// Only a keyed digest of the header is kept. An entry belongs to the stored password record against which it was
/// checked. After `revalidation` the record is read again, and a changed or removed record ends the entry. A password
/// that another process has changed in the database is therefore refused after that time at most. An entry from before
/// a restart, or from before ``doubt(at:)``, is not accepted until the record has been read.
package struct VerifiedCredentials: Sendable {
    /// What is known about credentials.
    package enum Finding: Equatable, Sendable {
        /// They were accepted within the revalidation period.
        case known(UserAddress)
        /// They were accepted, and still count if the stored record has this mark.
        case knownFor(UserAddress, record: CredentialDigest.RecordMark)
        /// They were not accepted, or have been forgotten.
        case unknown
    }

    private struct Entry {
        var digest: CredentialDigest
        var user: UserAddress
        var record: CredentialDigest.RecordMark
        /// The record that is about to replace that one, of the same password.
        var successor: CredentialDigest.RecordMark?
        /// When the stored record was read last. `nil`: not since the start.
        var readAt: MonotonicTime?
        /// The network from which they came last.
        var network: SourceNetwork?
        /// Seconds since 1970 after which a restart forgets them; 0 if any restart does.
        var expires: Int64
    }

    private let revalidation: Duration
    private let capacity: Int
    private var entries: [UInt64: Entry] = [:]
    /// Records that were read no later than this may have changed since. `nil`: none was doubted.
    private var doubtedAt: MonotonicTime?

    /// Makes an empty list.
    ///
    /// - Parameters:
    ///   - revalidation: how long an entry counts before its record is read again.
    ///   - capacity: how many entries are kept, at least 2. Beyond that, those that were not used for longest are
    ///     forgotten.
    package init(revalidation: Duration, capacity: Int) {
        precondition(capacity >= 2, "at least two users can be logged in")
        self.revalidation = revalidation
        self.capacity = capacity
    }

    /// The user to whom the credentials belong, and whether they came from that network last time, too. `nil` if they
    /// are unknown.
    package func holder(of digest: CredentialDigest, from network: SourceNetwork?) -> (
        user: UserAddress, isUsualNetwork: Bool
    )? {
        guard let entry = entries[digest.tag], entry.digest.matches(digest) else { return nil }
        return (entry.user, network != nil && entry.network == network)
    }

    /// What is known about the credentials.
    ///
    /// ``Finding/knownFor(_:record:)`` is returned once per period. Further requests get ``Finding/known(_:)`` while
    /// the record is being read, unless it is doubted.
    package mutating func find(_ digest: CredentialDigest, at now: MonotonicTime) -> Finding {
        guard let entry = entries[digest.tag], entry.digest.matches(digest) else { return .unknown }
        guard let readAt = entry.readAt, doubtedAt.map({ readAt > $0 }) ?? true else {
            return .knownFor(entry.user, record: entry.record)
        }
        guard now - readAt >= revalidation else { return .known(entry.user) }
        entries[digest.tag]?.readAt = now
        return .knownFor(entry.user, record: entry.record)
    }

    /// Notes that the record has been read and is still the same.
    ///
    /// - Parameter time: when the reading started.
    /// - Returns: whether that was the first time since the start.
    package mutating func confirm(_ digest: CredentialDigest, readAt time: MonotonicTime) -> Bool {
        guard let entry = entries[digest.tag] else { return false }
        entries[digest.tag]?.readAt = max(entry.readAt ?? time, time)
        return entry.readAt == nil
    }

    /// Notes that a record is about to be replaced by another one of the same password: entries of the first one count
    /// for both until ``replaced(_:by:of:)`` or ``kept(_:of:)``.
    package mutating func willReplace(
        _ old: CredentialDigest.RecordMark, by new: CredentialDigest.RecordMark, of user: UserAddress
    ) {
        for (tag, entry) in entries where entry.user == user && entry.record == old { entries[tag]?.successor = new }
    }

    /// Notes that the record has been replaced: its entries belong to the new one.
    ///
    /// - Returns: the entries that are written down, with the time after which a restart forgets them, in seconds since
    ///   1970.
    package mutating func replaced(
        _ old: CredentialDigest.RecordMark, by new: CredentialDigest.RecordMark, of user: UserAddress
    ) -> [(digest: CredentialDigest, expires: Int64)] {
        var moved: [(digest: CredentialDigest, expires: Int64)] = []
        for (tag, entry) in entries where entry.user == user && entry.record == old {
            entries[tag]?.record = new
            entries[tag]?.successor = nil
            if entry.expires > 0 { moved.append((entry.digest, entry.expires)) }
        }
        return moved
    }

    /// Notes that the record has not been replaced after all.
    package mutating func kept(_ old: CredentialDigest.RecordMark, of user: UserAddress) {
        for (tag, entry) in entries where entry.user == user && entry.record == old { entries[tag]?.successor = nil }
    }

    /// Whether the credentials belong to the record with this mark.
    package func belongs(_ digest: CredentialDigest, to record: CredentialDigest.RecordMark) -> Bool {
        guard let entry = entries[digest.tag], entry.digest.matches(digest) else { return false }
        return entry.record == record || entry.successor == record
    }

    /// Notes that accounts have changed: a record counts only if its reading starts after `now`.
    package mutating func doubt(at now: MonotonicTime) {
        doubtedAt = now
    }

    /// Adds credentials that the slow hash has just accepted.
    ///
    /// - Parameter time: when the reading of the record started.
    package mutating func insert(
        _ digest: CredentialDigest, of user: UserAddress, checkedAgainst record: CredentialDigest.RecordMark,
        readAt time: MonotonicTime
    ) {
        makeRoom()
        entries[digest.tag] = Entry(digest: digest, user: user, record: record, readAt: time, expires: 0)
    }

    /// Adds credentials that were accepted before the start.
    ///
    /// - Parameter expires: seconds since 1970 after which a restart forgets them.
    package mutating func restore(
        _ digest: CredentialDigest, of user: UserAddress, checkedAgainst record: CredentialDigest.RecordMark,
        expires: Int64
    ) {
        makeRoom()
        entries[digest.tag] = Entry(digest: digest, user: user, record: record, readAt: nil, expires: expires)
    }

    /// Notes the network from which the credentials come now.
    ///
    /// - Returns: whether it is another one than last time.
    package mutating func noteUse(_ digest: CredentialDigest, from network: SourceNetwork?) -> Bool {
        guard let entry = entries[digest.tag], entry.network != network else { return false }
        entries[digest.tag]?.network = network
        return true
    }

    /// Moves the time after which a restart forgets the credentials, if that gains more than `renewal` seconds.
    ///
    /// - Parameter expires: seconds since 1970.
    /// - Returns: the mark of the record; `nil` if the time was not moved.
    package mutating func renew(_ digest: CredentialDigest, until expires: Int64, renewal: Int64) -> CredentialDigest
        .RecordMark?
    {
        guard let entry = entries[digest.tag], expires - entry.expires > renewal else { return nil }
        entries[digest.tag]?.expires = expires
        return entry.record
    }

    /// Forgets credentials that are not valid any more.
    package mutating func remove(_ digest: CredentialDigest) {
        entries[digest.tag] = nil
    }

    private mutating func makeRoom() {
        guard entries.count >= capacity else { return }
        let keep = entries.sorted { $0.value.readAt ?? .zero > $1.value.readAt ?? .zero }.prefix(capacity / 2)
        entries = Dictionary(uniqueKeysWithValues: keep.map { ($0.key, $0.value) })
    }
}
