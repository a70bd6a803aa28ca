package import CallControl
import Synchronization

/// A call log that lasts as long as the process, and never grows beyond its bounds: the oldest records go first.
package final class MemoryCallLog: CallLog {
    package struct Configuration: Equatable, Sendable {
        /// Records of one user; 0 keeps none.
        package var recordsPerUser: Int
        /// Records of all users.
        package var records: Int

        package init(recordsPerUser: Int = 100, records: Int = 20_000) {
            self.recordsPerUser = recordsPerUser
            self.records = records
        }
    }

    private let configuration: Configuration
    private let state = Mutex(State())

    package init(configuration: Configuration = Configuration()) { self.configuration = configuration }

    package func add(_ record: CallLogRecord) {
        guard configuration.recordsPerUser > 0, configuration.records > 0 else { return }
        state.withLock { $0.add(record, configuration) }
    }

    package func records(of user: UserAddress, from start: Int, count: Int) async -> [CallLogRecord] {
        state.withLock {
            Array(
                ($0.shelves[user] ?? []).reversed().lazy.map(\.record).filter { $0.ending != nil }.dropFirst(start)
                    .prefix(count))
        }
    }

    package func record(_ id: SessionID, of user: UserAddress) async -> CallLogRecord? {
        state.withLock { $0.shelves[user]?.last { $0.record.id == id && $0.record.ending != nil }?.record }
    }

    package func remove(_ id: SessionID, of user: UserAddress) async -> Bool {
        state.withLock { state in
            guard let index = state.shelves[user]?.firstIndex(where: { $0.record.id == id && $0.record.ending != nil })
            else { return false }
            state.remove(index, of: user)
            return true
        }
    }

    package func removeAll(of user: UserAddress) async {
        state.withLock { state in
            // What goes on in another call is not over yet, and will be shown.
            let open = (state.shelves[user] ?? []).filter { $0.record.ending == nil }
            state.count += open.count - (state.shelves[user]?.count ?? 0)
            state.shelves[user] = open.isEmpty ? nil : open
        }
    }
}

extension MemoryCallLog {
    private struct Entry {
        let number: UInt64
        var record: CallLogRecord
    }

    private struct State {
        /// By user, the oldest first.
        var shelves: [UserAddress: [Entry]] = [:]
        var count = 0
        private var lastNumber: UInt64 = 0
        /// Whose record came when, the oldest first; those that are gone already are passed over.
        private var arrivals: [(number: UInt64, user: UserAddress)] = []
        private var firstArrival = 0

        mutating func add(_ record: CallLogRecord, _ configuration: Configuration) {
            let user = record.user
            var record = record
            if let index = shelves[user]?.lastIndex(where: { $0.record.id == record.id }),
                let part = shelves[user]?[index].record
            {
                record = part.continued(by: record)
                remove(index, of: user)
            }
            lastNumber += 1
            shelves[user, default: []].append(Entry(number: lastNumber, record: record))
            arrivals.append((lastNumber, user))
            count += 1
            while let shelf = shelves[user], shelf.count > configuration.recordsPerUser { remove(0, of: user) }
            while count > configuration.records { removeOldest() }
            compact()
        }

        mutating func remove(_ index: Int, of user: UserAddress) {
            shelves[user]?.remove(at: index)
            if shelves[user]?.isEmpty == true { shelves[user] = nil }
            count -= 1
        }

        private mutating func removeOldest() {
            let oldest = arrivals[firstArrival]
            firstArrival += 1
            guard let index = shelves[oldest.user]?.firstIndex(where: { $0.number == oldest.number }) else { return }
            remove(index, of: oldest.user)
        }

        /// Forgets arrivals of records that are gone, once they are more than half of all.
        private mutating func compact() {
            guard arrivals.count > 2 * count + 64 else { return }
            let present = Set(shelves.values.joined().map(\.number))
            arrivals.removeAll { !present.contains($0.number) }
            firstArrival = 0
        }
    }
}
