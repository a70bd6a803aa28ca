package import CallControl
import Sockets

/// A call log that lasts as long as the process and never exceeds its limits: the oldest records are dropped first.
package final class MemoryCallLog: CallLog {
    /// The limits of the log.
    package struct Configuration: Equatable, Sendable {
        /// The most records of one user; 0 keeps none.
        package var recordsPerUser: Int
        /// The most records of all users together; 0 keeps none.
        package var records: Int

        /// Makes limits of their parts; each parameter is the property of that name.
        package init(recordsPerUser: Int = 100, records: Int = 20_000) {
            self.recordsPerUser = recordsPerUser
            self.records = records
        }
    }

    private let configuration: Configuration
    private let state = Lock(State())

    /// Makes an empty log.
    package init(configuration: Configuration = Configuration()) { self.configuration = configuration }

    /// Adds a record, or continues the one of the same leg; see `CallLog`. The oldest records make room.
    ///
    /// - Returns: nothing for the journal.
    @discardableResult
    package func add(_ record: CallLogRecord) -> JournalEntry? {
        guard configuration.recordsPerUser > 0, configuration.records > 0 else { return nil }
        state.withLock { $0.add(record, configuration) }
        return nil
    }

    /// The records of a user, the latest first; see `CallLog`. Records that await their continuation are left out.
    package func records(of user: UserAddress, from start: Int, count: Int) async -> [CallLogRecord] {
        state.withLock {
            Array(
                ($0.entries[user] ?? []).reversed().lazy.map(\.record).filter { $0.ending != nil }.dropFirst(start)
                    .prefix(count))
        }
    }

    /// The record of this session; `nil` if the user has none, or it awaits its continuation.
    package func record(_ id: SessionID, of user: UserAddress) async -> CallLogRecord? {
        state.withLock { $0.entries[user]?.last { $0.record.id == id && $0.record.ending != nil }?.record }
    }

    /// Removes a record; `false` if the user has none of that name, or it awaits its continuation.
    package func remove(_ id: SessionID, of user: UserAddress) async -> Bool {
        state.withLock { state in
            guard let index = state.entries[user]?.firstIndex(where: { $0.record.id == id && $0.record.ending != nil })
            else { return false }
            state.remove(index, of: user)
            return true
        }
    }

    /// Removes all records of a user, except those that await their continuation.
    package func removeAll(of user: UserAddress) async {
        state.withLock { state in
            // A leg that went on in another call is not over yet, and its record will be shown.
            let open = (state.entries[user] ?? []).filter { $0.record.ending == nil }
            state.count += open.count - (state.entries[user]?.count ?? 0)
            state.entries[user] = open.isEmpty ? nil : open
        }
    }
}

extension MemoryCallLog {
    private struct Entry {
        let number: UInt64
        var record: CallLogRecord
    }

    private struct State {
        /// The records by user, the oldest first.
        var entries: [UserAddress: [Entry]] = [:]
        var count = 0
        private var lastNumber: UInt64 = 0
        /// The order in which the records of all users came, the oldest first. Those that are gone already are skipped.
        private var arrivals: [(number: UInt64, user: UserAddress)] = []
        private var firstArrival = 0

        mutating func add(_ record: CallLogRecord, _ configuration: Configuration) {
            let user = record.user
            var record = record
            if let index = entries[user]?.lastIndex(where: { $0.record.id == record.id }),
                let part = entries[user]?[index].record
            {
                record = part.continued(by: record)
                remove(index, of: user)
            }
            lastNumber += 1
            entries[user, default: []].append(Entry(number: lastNumber, record: record))
            arrivals.append((lastNumber, user))
            count += 1
            while let kept = entries[user], kept.count > configuration.recordsPerUser { remove(0, of: user) }
            while count > configuration.records { removeOldest() }
            compact()
        }

        mutating func remove(_ index: Int, of user: UserAddress) {
            entries[user]?.remove(at: index)
            if entries[user]?.isEmpty == true { entries[user] = nil }
            count -= 1
        }

        private mutating func removeOldest() {
            let oldest = arrivals[firstArrival]
            firstArrival += 1
            guard let index = entries[oldest.user]?.firstIndex(where: { $0.number == oldest.number }) else { return }
            remove(index, of: oldest.user)
        }

        /// Forgets the arrivals of records that are gone, once these are more than half of all.
        private mutating func compact() {
            guard arrivals.count > 2 * count + 64 else { return }
            let present = Set(entries.values.joined().map(\.number))
            arrivals.removeAll { !present.contains($0.number) }
            firstArrival = 0
        }
    }
}
