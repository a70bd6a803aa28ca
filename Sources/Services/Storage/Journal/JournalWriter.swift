import CallControl
import CallRuntime
import EventAPI
import Foundation
import GRDB
import GatewayAPI
import Primitives
import Registration

/// Writes entries of the journal into the tables, and removes old ones.
enum JournalWriter {
    /// How many rows are removed at a time, so that nobody waits long.
    static let upkeepLimit = 5_000
    /// How many bytes of rows that may be large are removed at a time, and what the last one has beyond that.
    static let upkeepBytes = 16 << 20

    // MARK: - Writing

    /// What was written, to be noted once the transaction is committed.
    struct Written {
        /// The rows of events.
        var events: [CallRows.Written] = []
        /// The events of the public log.
        var published: [PublicEvent] = []
        /// How many bytes they have in its table.
        var publishedBytes = 0
        /// By how much the number of records has changed.
        var records = 0
        /// What could not be understood of what was written before.
        var setAside: [SetAsideRow] = []
    }

    /// Writes entries, in order.
    ///
    /// - Parameters:
    ///   - recordLimit: how many records of calls each user may have.
    ///   - publicNumber: the number of the next event of the public log.
    ///   - keepsPublic: whether that log has a table; otherwise it is in memory only.
    ///   - now: milliseconds on the monotonic clock.
    static func write(
        _ entries: [JournalEntry], recordLimit: Int, publicNumber: Int64, keepsPublic: Bool, _ database: Database,
        at now: Int64
    ) throws -> Written {
        var marks = marks(of: entries)
        let settledAtOnce = ServiceRows.settledAtOnce(entries)
        var written = Written()
        var notifications = NotificationRows()
        for entry in entries {
            switch entry {
            case .event(let event): written.events.append(try write(event, database, at: now))
            case .published(let publication):
                let event = publication.numbered(publicNumber + Int64(written.published.count))
                if keepsPublic { written.publishedBytes += try PublicEventRows.write(event, database) }
                written.published.append(event)
            case .guest(let guest): try write(guest, database)
            case .record(let record):
                written.records += try RecordRows.write(
                    record, perUser: recordLimit, settingAside: &written.setAside, database)
            case .recordRemoved(let user, let id):
                written.records += try RecordRows.remove(id, of: user, database)
            case .pushRegistration(let change): try PushRegistrationRows.write(change, database)
            case .push(let push): try OwedPushRows.write(push, database)
            case .pushSettled(let name): try OwedPushRows.remove(name, database)
            case .tokenUsed(let token): try UsedTokenRows.write(token, database)
            case .registration(.subscribed(let subscription)): try write(subscription, database)
            case .registration(.unsubscribed(let id)): try remove(id, database)
            case .registration(.notified(let id, let frame)):
                var isTransmitted = false
                if let place = marks.index(forKey: id) {
                    isTransmitted = frame.eventID <= marks.values[place].number
                    if frame.eventID == marks.values[place].number { marks.values[place].isWritten = true }
                }
                try notifications.add(frame, of: id, isTransmitted: isTransmitted, database)
            // Written below, or with the notification.
            case .registration(.transmitted): break
            case .registration(.numbered(let id, let number)): try raise("numbered", of: id, to: number, database)
            case .registration(.forgotten(let id, let number, let lost)):
                try forget(id, through: number, lost: lost, database)
            case .registration(.service(let change)):
                try ServiceRows.write(change, settledAtOnce: settledAtOnce, database)
            }
        }
        // Nothing else that was written concerns their table, in which they stand in order.
        try notifications.finish(database)
        for (id, mark) in marks where !mark.isWritten { try raise("transmitted", of: id, to: mark.number, database) }
        return written
    }

    /// The highest number of a subscription that was transmitted.
    private struct Mark {
        var number: UInt64 = 0
        /// It is that of a notification in the same transaction, and the row of the notification says so.
        var isWritten = false

        mutating func raise(to other: UInt64) { number = max(number, other) }
    }

    private static func marks(of entries: [JournalEntry]) -> [SubscriptionID: Mark] {
        var marks: [SubscriptionID: Mark] = [:]
        for case .registration(.transmitted(let id, let number)) in entries {
            marks[id, default: Mark()].raise(to: number)
        }
        return marks
    }

    private static func write(
        _ entry: LoggedEvent, _ database: Database, at now: Int64
    ) throws -> CallRows.Written {
        let text = WireJSON.encode(entry.event)
        let isLast = if case .ended = entry.event.fact { true } else { false }
        try database.cachedStatement(
            sql: """
                INSERT INTO callEvent (call, startedAt, sequence, elapsed, isLast, event) VALUES (?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            entry.call.column, entry.startedAt, entry.sequence, entry.elapsed.wholeNanoseconds, isLast,
            String(decoding: text, as: UTF8.self),
        ])
        return CallRows.Written(
            row: database.lastInsertedRowID, run: CallRows.Run(call: entry.call, startedAt: entry.startedAt),
            bytes: text.count, time: now, isLast: isLast, isOmissible: entry.event.fact.isOmissible)
    }

    private static func write(_ subscription: StoredSubscription, _ database: Database) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO subscription
                (id, channel, user, correlator, ringingFeedback, services, expiry, reminder, firstEventId, replaced,
                account) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET
                services = excluded.services, expiry = excluded.expiry, reminder = excluded.reminder
                """
        ).execute(arguments: [
            subscription.id.rawValue, subscription.channel.rawValue, subscription.user.text,
            subscription.clientCorrelator, subscription.sendsRingingFeedback,
            String(decoding: WireJSON.encode(subscription.services), as: UTF8.self), subscription.expiry,
            subscription.reminder, Int64(bitPattern: subscription.firstEventID), subscription.replaced?.rawValue,
            subscription.account?.rawValue,
        ])
    }

    /// Removes a subscription, and the guest whose subscription it was. Its notifications are removed with age.
    private static func remove(_ id: SubscriptionID, _ database: Database) throws {
        try database.cachedStatement(sql: "DELETE FROM subscription WHERE id = ?").execute(arguments: [id.rawValue])
        guard let guest = GuestID(owning: id.rawValue) else { return }
        try database.cachedStatement(sql: "DELETE FROM guest WHERE id = ?").execute(arguments: ["\(guest)"])
    }

    private static func write(_ guest: StoredGuest, _ database: Database) throws {
        try database.cachedStatement(sql: "INSERT OR REPLACE INTO guest (id, account, network) VALUES (?, ?, ?)")
            .execute(arguments: ["\(guest.guest)", guest.account.text, guest.network.map { Data($0.bytes) }])
    }

    /// Raises a column of a subscription, never lowers it.
    private static func raise(_ column: String, of id: SubscriptionID, to number: UInt64, _ database: Database) throws {
        try database.cachedStatement(sql: "UPDATE subscription SET \(column) = max(\(column), ?) WHERE id = ?")
            .execute(arguments: [Int64(bitPattern: number), id.rawValue])
    }

    private static func forget(_ id: SubscriptionID, through number: UInt64, lost: Int, _ database: Database) throws {
        try database.cachedStatement(
            sql:
                "UPDATE subscription SET numbered = max(numbered, ?), forgotten = max(forgotten, ?), lost = ? WHERE id = ?"
        ).execute(arguments: [Int64(bitPattern: number), Int64(bitPattern: number), lost, id.rawValue])
    }

    // MARK: - Upkeep

    /// Corrects when subscriptions are over, since the wall clock was set.
    ///
    /// - Parameter step: by how many milliseconds; negative: it was put back.
    static func shiftExpiry(by step: Int64, _ database: Database) throws {
        try database.execute(
            sql: "UPDATE subscription SET expiry = expiry + :step, reminder = reminder + :step",
            arguments: ["step": step])
    }

    /// The rows of events that there are, in the order of writing. They are as old as this process.
    ///
    /// - Parameter now: milliseconds on the monotonic clock.
    static func rows(_ database: Database, at now: Int64) throws -> [CallRows.Written] {
        try Row.fetchAll(
            database,
            sql: """
                SELECT number, call, startedAt, isLast, length(event) AS bytes FROM callEvent ORDER BY number
                """
        ).map { row in
            CallRows.Written(
                row: row["number"], run: CallRows.Run(call: CallID(column: row["call"]), startedAt: row["startedAt"]),
                bytes: row["bytes"], time: now, isLast: row["isLast"])
        }
    }

    /// Notes that the process runs.
    static func note(_ database: Database, at now: Int64) throws {
        try database.execute(sql: "INSERT OR REPLACE INTO journalTime (id, alive) VALUES (1, ?)", arguments: [now])
    }

    /// Removes events of calls.
    static func removeEvents(_ numbers: some Sequence<Int64>, _ database: Database) throws {
        let statement = try database.cachedStatement(sql: "DELETE FROM callEvent WHERE number = ?")
        for number in numbers { try statement.execute(arguments: [number]) }
    }

    /// Removes some of the notifications that were made before a time, milliseconds since 1970. Those that were neither
    /// transmitted nor given up are lost, and counted.
    ///
    /// - Returns: whether none of them is left.
    static func removeNotifications(_ database: Database, before time: Int64) throws -> Bool {
        guard let (number, isDone) = try lastNotification(database, before: time) else { return true }
        let old: StatementArguments = ["number": number]
        // A number is not given twice, even if nothing else tells that it was given.
        try database.execute(
            sql: """
                UPDATE subscription SET numbered = max(subscription.numbered, old.eventId),
                transmitted = max(subscription.transmitted, ifnull(old.transmitted, 0))
                FROM (SELECT subscription, max(eventId) AS eventId, max(CASE WHEN isTransmitted THEN eventId END)
                AS transmitted FROM notification WHERE number <= :number GROUP BY subscription) AS old
                WHERE subscription.id = old.subscription
                """, arguments: old)
        // The owner of the subscription has counted them, unless it could not write that any more.
        try database.execute(
            sql: """
                UPDATE subscription SET lost = subscription.lost + old.lost, forgotten = old.eventId
                FROM (SELECT subscription, count(*) AS lost, max(eventId) AS eventId FROM notification
                JOIN subscription AS owner ON owner.id = subscription
                WHERE number <= :number AND eventId > max(owner.transmitted, owner.forgotten)
                GROUP BY subscription) AS old
                WHERE subscription.id = old.subscription
                """, arguments: old)
        try database.execute(sql: "DELETE FROM notification WHERE number <= :number", arguments: old)
        return isDone
    }

    /// The number of the last notification that goes with those before a time, among the first ones; and whether that
    /// is all. They stand in the order of their times, unless the wall clock was put back.
    private static func lastNotification(_ database: Database, before time: Int64) throws -> (Int64, Bool)? {
        let oldest = try Row.fetchAll(
            database, sql: "SELECT number, time FROM notification ORDER BY number LIMIT ?", arguments: [upkeepLimit])
        guard let first = oldest.first else { return nil }
        let count = oldest.prefix { $0["time"] < time }.count
        if count > 0 { return (oldest[count - 1]["number"], count < upkeepLimit) }
        guard (oldest.last?["time"] as Int64?).map({ $0 < first["time"] }) ?? false else { return nil }
        // Earlier ones are at least as old as a later one, whatever the clock showed.
        let number = try Int64.fetchOne(
            database, sql: "SELECT max(number) FROM notification WHERE time < ?", arguments: [time])
        return number.map { ($0, true) }
    }
}

extension Duration {
    /// The duration in milliseconds, without fractions.
    var wholeMilliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }
}
