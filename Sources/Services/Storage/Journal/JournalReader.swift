import CallControl
import CallRuntime
import Foundation
import GRDB
import Primitives
import Registration

/// Reads what the last process has left in the tables of the journal.
enum JournalReader {
    /// The name of an event.
    private struct EventName: Hashable {
        let call: Int64
        let startedAt: Int64
        let sequence: Int

        init(call: Int64, startedAt: Int64, sequence: Int) {
            self.call = call
            self.startedAt = startedAt
            self.sequence = sequence
        }

        init(_ entry: LoggedEvent) {
            self.init(call: entry.call.column, startedAt: entry.startedAt, sequence: entry.sequence)
        }

        /// The name of the call: that of no event.
        var ofCall: EventName { EventName(call: call, startedAt: startedAt, sequence: 0) }
    }

    /// Calls that ended earlier than this before the end of the process, and that no notification is about, have
    /// nothing left to be told; in milliseconds.
    private static let reach: Int64 = 120_000

    /// The events of calls that have not ended, have ended since a time, or are told of by a notification. The table is
    /// read as often as it is named here: the calls are looked up in an index that SQLite makes for the purpose, while
    /// a join of the two would read the table once for each call.
    static let callsQuery = """
        SELECT * FROM callEvent WHERE (call, startedAt) IN
        (SELECT call, startedAt FROM callEvent GROUP BY call, startedAt
        HAVING NOT max(isLast) OR max(startedAt + elapsed / 1000000) >= ?
        OR (call, startedAt) IN (SELECT call, startedAt FROM notification))
        ORDER BY startedAt, call, sequence
        """

    /// What there is, without what belongs to nobody any more, which is removed.
    ///
    /// - Throws: `DatabaseError`.
    static func contents(_ database: Database, at now: Int64) throws -> JournalContents {
        try database.execute(
            sql: """
                DELETE FROM notification WHERE subscription NOT IN (SELECT id FROM subscription)
                """)
        let alive = try Int64.fetchOne(database, sql: "SELECT alive FROM journalTime") ?? 0
        let lastEvent =
            try Int64.fetchOne(database, sql: "SELECT max(startedAt + elapsed / 1000000) FROM callEvent") ?? 0
        let lastNotification = try Int64.fetchOne(database, sql: "SELECT max(time) FROM notification") ?? 0
        // A clock that was set back meanwhile must not make the end of the last process lie in the future.
        let stoppedAt = min(max(alive, lastEvent, lastNotification), now)
        var setAside = SetAside(at: now)
        let (calls, events) = try calls(database, since: stoppedAt - reach, &setAside)
        var subscriptions = try subscriptions(database, &setAside)
        try addNotifications(to: &subscriptions, events, database, &setAside)
        let guests = try guests(of: subscriptions, database, &setAside)
        let services = try ServiceRows.contents(database, &setAside)
        let registrations = try PushRegistrationRows.contents(database, &setAside)
        return JournalContents(
            guests: guests, subscriptions: subscriptions, calls: calls, services: services,
            pushRegistrations: registrations, owedPushes: try OwedPushRows.contents(database, &setAside),
            usedTokens: try UsedTokenRows.contents(database), stoppedAt: stoppedAt, setAside: setAside.entries)
    }

    /// The events of the calls that have not ended, have ended since `time`, or are told of by a notification; `nil`
    /// for one that cannot be understood. A call whose end is such a one is left out: it is over.
    private static func calls(
        _ database: Database, since time: Int64, _ setAside: inout SetAside
    ) throws -> (calls: [[LoggedEvent]], events: [EventName: LoggedEvent?]) {
        let rows = try Row.fetchCursor(database, sql: callsQuery, arguments: [time])
        var calls: [[LoggedEvent]] = []
        var events: [EventName: LoggedEvent?] = [:]
        // The last event of a call that is over may be one that could not be read by an earlier process.
        var (damaged, over): ([(row: Row, reason: String)], Set<EventName>) = ([], [])
        let decoder = JSONDecoder()
        while let row = try rows.next() {
            let name = EventName(call: row["call"], startedAt: row["startedAt"], sequence: row["sequence"])
            let text: String = row["event"]
            let event: CallEvent
            do {
                event = try decoder.decode(CallEvent.self, from: Data(text.utf8))
            } catch {
                damaged.append((row.copy(), "an event of a call cannot be read: \(SetAside.reason(of: error))"))
                events.updateValue(nil, forKey: name)
                if row["isLast"] { over.insert(name.ofCall) }
                continue
            }
            let isEnd = if case .ended = event.fact { true } else { false }
            if row["isLast"], !isEnd { over.insert(name.ofCall) }
            let entry = LoggedEvent(
                call: CallID(column: name.call), sequence: name.sequence, startedAt: name.startedAt,
                elapsed: .nanoseconds(row["elapsed"] as Int64), event: event)
            events[name] = entry
            if let last = calls.last?.last, last.call == entry.call, last.startedAt == entry.startedAt {
                calls[calls.count - 1].append(entry)
            } else {
                calls.append([entry])
            }
        }
        for (row, reason) in damaged {
            try setAside.move(row, from: "callEvent", key: "number", because: reason, database)
            guard row["isLast"] else { continue }
            // The next process must know, too, that the call is over.
            try database.execute(
                sql: """
                    UPDATE callEvent SET isLast = 1 WHERE number = (SELECT number FROM callEvent
                    WHERE call = ? AND startedAt = ? ORDER BY sequence DESC LIMIT 1)
                    """, arguments: [row["call"] as Int64, row["startedAt"] as Int64])
        }
        calls.removeAll { $0.first.map { over.contains(EventName($0).ofCall) } ?? false }
        return (calls, events)
    }

    private static func subscriptions(
        _ database: Database, _ setAside: inout SetAside
    ) throws -> [RestoredSubscription] {
        try Row.fetchAll(database, sql: "SELECT * FROM subscription").compactMap { row in
            let id = SubscriptionID(row["id"])
            let text: String = row["services"]
            guard let user = user(row["user"], owning: id),
                let services = try? JSONDecoder().decode([String].self, from: Data(text.utf8))
            else {
                let reason = "a subscription has services or a user that cannot be read"
                try setAside.move(row, from: "subscription", key: "id", because: reason, database)
                return nil
            }
            return RestoredSubscription(
                StoredSubscription(
                    id: id, channel: ChannelID(row["channel"]), user: user, clientCorrelator: row["correlator"],
                    sendsRingingFeedback: row["ringingFeedback"],
                    services: services,
                    expiry: row["expiry"], reminder: row["reminder"],
                    firstEventID: UInt64(bitPattern: row["firstEventId"] as Int64),
                    replaced: (row["replaced"] as String?).map { SubscriptionID($0) },
                    account: (row["account"] as Int64?).map { AccountIdentity($0) }),
                transmitted: UInt64(bitPattern: row["transmitted"] as Int64),
                numbered: UInt64(bitPattern: max(row["numbered"] as Int64, row["forgotten"] as Int64)),
                lost: row["lost"])
        }
    }

    /// The user of a subscription. A name alone tells whether it is a guest's.
    private static func user(_ address: String, owning id: SubscriptionID) -> UserAddress? {
        GuestID(owning: id.rawValue).map { UserAddress($0) } ?? UserAddress(parsing: address)
    }

    private static func addNotifications(
        to subscriptions: inout [RestoredSubscription], _ events: [EventName: LoggedEvent?], _ database: Database,
        _ setAside: inout SetAside
    ) throws {
        var damaged: [Row] = []
        let indices = Dictionary(
            zip(subscriptions.map(\.subscription.id), subscriptions.indices), uniquingKeysWith: { first, _ in first })
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT notification.* FROM notification JOIN subscription ON id = subscription
                WHERE eventId > forgotten ORDER BY number
                """)
        while let row = try rows.next() {
            guard let index = indices[SubscriptionID(row["subscription"])] else { continue }
            let eventID = UInt64(bitPattern: row["eventId"] as Int64)
            let isTransmitted: Bool = row["isTransmitted"]
            subscriptions[index].numbered = max(subscriptions[index].numbered, eventID)
            if isTransmitted { subscriptions[index].transmitted = max(subscriptions[index].transmitted, eventID) }
            let notice: Notice
            switch reading(row, events) {
            case .notice(let read): notice = read
            case .removed:
                // Its call has been removed: it was transmitted, or the client is told that it was lost.
                if !isTransmitted, eventID > subscriptions[index].transmitted { subscriptions[index].lost += 1 }
                continue
            case .damaged:
                // In its place, and under its number, the client is told that one is lost.
                damaged.append(row.copy())
                notice = .lost(1)
            }
            let subscription = subscriptions[index].subscription
            subscriptions[index].frames.append(
                NotificationFrame(
                    eventID: eventID, time: row["time"], user: subscription.user, channel: subscription.channel,
                    notice: notice))
        }
        for row in damaged {
            try setAside.copy(row, from: "notification", because: "a notification cannot be read", database)
            try database.execute(
                sql: """
                    UPDATE notification SET kind = ?, lost = 1, call = NULL, startedAt = NULL, sequence = NULL,
                    content = NULL WHERE number = ?
                    """, arguments: [NoticeColumns.Kind.lost.rawValue, row["number"] as Int64])
        }
    }

    /// What could be read of a notification.
    private enum Reading {
        case notice(Notice)
        /// The event that it tells is not there any more.
        case removed
        /// The row or its event cannot be understood.
        case damaged
    }

    private static func reading(_ row: Row, _ events: [EventName: LoggedEvent?]) -> Reading {
        switch NoticeColumns.Kind(rawValue: row["kind"]) {
        case .event:
            guard let call = row["call"] as Int64?, let start = row["startedAt"] as Int64?,
                let sequence = row["sequence"] as Int?
            else { return .damaged }
            guard let found = events[EventName(call: call, startedAt: start, sequence: sequence)] else {
                return .removed
            }
            return found.map { .notice(.call($0)) } ?? .damaged
        case .service:
            let text = (row["content"] as String?) ?? ""
            guard let notice = try? JSONDecoder().decode(ServiceNotice.self, from: Data(text.utf8)) else {
                return .damaged
            }
            return .notice(.service(notice))
        case .gone: return .notice(.gone)
        case .overridden: return .notice(.overridden)
        case .ping: return .notice(.ping)
        case .lost: return (row["lost"] as Int?).map { .notice(.lost($0)) } ?? .damaged
        case nil: return .damaged
        }
    }

    /// The guests who still have a subscription; the others are removed.
    private static func guests(
        of subscriptions: [RestoredSubscription], _ database: Database, _ setAside: inout SetAside
    ) throws -> [StoredGuest] {
        let present = Set(subscriptions.compactMap(\.subscription.user.guest))
        return try Row.fetchAll(database, sql: "SELECT id, account, network FROM guest").compactMap { row in
            let (id, account, network): (String, String, Data?) = (row["id"], row["account"], row["network"])
            guard let guest = GuestID(owning: id + "."), present.contains(guest) else {
                try database.execute(sql: "DELETE FROM guest WHERE id = ?", arguments: [id])
                return nil
            }
            guard let account = UserAddress(parsing: account) else {
                let reason = "a guest may call an account that cannot be read"
                try setAside.move(row, from: "guest", key: "id", because: reason, database)
                return nil
            }
            return StoredGuest(
                guest: guest, account: account, network: network.flatMap { SourceNetwork(bytes: Array($0)) })
        }
    }
}
