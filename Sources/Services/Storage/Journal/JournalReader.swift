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
    }

    /// Calls that ended earlier than this before the end of the process, and that no notification is about, have
    /// nothing left to be told; in milliseconds.
    private static let reach: Int64 = 120_000

    /// What there is, without what belongs to nobody any more, which is removed.
    ///
    /// - Throws: `DatabaseError`; `StorageError.failed` if a row cannot be understood.
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
        let (calls, events) = try calls(database, since: stoppedAt - reach)
        var subscriptions = try subscriptions(database)
        try addNotifications(to: &subscriptions, events, database)
        let guests = try guests(of: subscriptions, database)
        return JournalContents(
            guests: guests, subscriptions: subscriptions, calls: calls, services: try ServiceRows.contents(database),
            stoppedAt: stoppedAt)
    }

    /// The events of the calls that have not ended, have ended since `time`, or are told of by a notification.
    private static func calls(
        _ database: Database, since time: Int64
    ) throws -> (calls: [[LoggedEvent]], events: [EventName: LoggedEvent]) {
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT call, startedAt, sequence, elapsed, event FROM callEvent JOIN
                (SELECT call AS id, startedAt AS start FROM callEvent GROUP BY call, startedAt
                HAVING NOT max(isLast) OR max(startedAt + elapsed / 1000000) >= ?
                OR (call, startedAt) IN (SELECT call, startedAt FROM notification))
                ON call = id AND startedAt = start ORDER BY startedAt, call, sequence
                """, arguments: [time])
        var calls: [[LoggedEvent]] = []
        var events: [EventName: LoggedEvent] = [:]
        let decoder = JSONDecoder()
        while let row = try rows.next() {
            let name = EventName(call: row["call"], startedAt: row["startedAt"], sequence: row["sequence"])
            let text: String = row["event"]
            let event: CallEvent
            do {
                event = try decoder.decode(CallEvent.self, from: Data(text.utf8))
            } catch {
                throw StorageError.failed("event \(name.sequence) of a call in the journal cannot be read: \(error)")
            }
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
        return (calls, events)
    }

    private static func subscriptions(_ database: Database) throws -> [RestoredSubscription] {
        try Row.fetchAll(database, sql: "SELECT * FROM subscription").compactMap { row in
            let id = SubscriptionID(row["id"])
            let services: String = row["services"]
            guard let user = user(row["user"], owning: id) else { return nil }
            return RestoredSubscription(
                StoredSubscription(
                    id: id, channel: ChannelID(row["channel"]), user: user, clientCorrelator: row["correlator"],
                    sendsRingingFeedback: row["ringingFeedback"],
                    services: try JSONDecoder().decode([String].self, from: Data(services.utf8)),
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
        to subscriptions: inout [RestoredSubscription], _ events: [EventName: LoggedEvent], _ database: Database
    ) throws {
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
            guard let notice = notice(row, events) else {
                // Its call has been removed: it was transmitted, or the client is told that it was lost.
                if !isTransmitted, eventID > subscriptions[index].transmitted { subscriptions[index].lost += 1 }
                continue
            }
            let subscription = subscriptions[index].subscription
            subscriptions[index].frames.append(
                NotificationFrame(
                    eventID: eventID, time: row["time"], user: subscription.user, channel: subscription.channel,
                    notice: notice))
        }
    }

    /// What a notification tells; `nil` if the event is not there any more.
    private static func notice(_ row: Row, _ events: [EventName: LoggedEvent]) -> Notice? {
        switch NoticeColumns.Kind(rawValue: row["kind"]) {
        case .event:
            events[EventName(call: row["call"], startedAt: row["startedAt"], sequence: row["sequence"])].map {
                .call($0)
            }
        case .service:
            // What cannot be read counts as lost, and the client is told that.
            (row["content"] as String?).flatMap {
                try? JSONDecoder().decode(ServiceNotice.self, from: Data($0.utf8))
            }.map { .service($0) }
        case .gone: .gone
        case .overridden: .overridden
        case .ping: .ping
        case .lost: .lost(row["lost"])
        case nil: nil
        }
    }

    /// The guests who still have a subscription; the others are removed.
    private static func guests(
        of subscriptions: [RestoredSubscription], _ database: Database
    ) throws -> [StoredGuest] {
        let present = Set(subscriptions.compactMap(\.subscription.user.guest))
        return try Row.fetchAll(database, sql: "SELECT id, account, network FROM guest").compactMap { row in
            let (id, account, network): (String, String, Data?) = (row["id"], row["account"], row["network"])
            guard let guest = GuestID(owning: id + "."), present.contains(guest),
                let account = UserAddress(parsing: account)
            else {
                try database.execute(sql: "DELETE FROM guest WHERE id = ?", arguments: [id])
                return nil
            }
            return StoredGuest(
                guest: guest, account: account, network: network.flatMap { SourceNetwork(bytes: Array($0)) })
        }
    }
}
