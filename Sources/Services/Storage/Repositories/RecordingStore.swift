package import CallControl
package import CallRuntime
import GRDB

/// The table `recording`.
package struct RecordingStore: RecordingRepository {
    private let queue: DatabaseQueue

    init(_ queue: DatabaseQueue) { self.queue = queue }

    /// Adds a recording.
    ///
    /// - Throws: `StorageError.failed`.
    package func add(_ recording: Recording) async throws(StorageError) {
        try await write { database in
            try database.execute(
                sql: """
                    INSERT INTO recording (id, application, applicationNumber, address, session, call, format, sides,
                    channels, tag, reason, startedAt, endedAt, milliseconds, bytes, trace)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    recording.id.description, recording.application.name.description, recording.application.number,
                    recording.address.text, recording.session.rawValue, recording.call.description,
                    recording.format.rawValue, recording.sides.rawValue, recording.channels, recording.tag,
                    recording.end?.rawValue, recording.startedAt, recording.endedAt, recording.milliseconds,
                    recording.bytes, recording.trace?.description,
                ])
        }
    }

    /// Writes how far a recording has come.
    ///
    /// - Throws: `StorageError.failed`.
    package func change(_ recording: Recording) async throws(StorageError) {
        try await write { database in
            try database.execute(
                sql: "UPDATE recording SET reason = ?, endedAt = ?, milliseconds = ?, bytes = ? WHERE id = ?",
                arguments: [
                    recording.end?.rawValue, recording.endedAt, recording.milliseconds, recording.bytes,
                    recording.id.description,
                ])
        }
    }

    /// Removes a recording.
    ///
    /// - Throws: `StorageError.failed`.
    package func remove(_ id: RecordingID) async throws(StorageError) {
        try await write { database in
            try database.execute(sql: "DELETE FROM recording WHERE id = ?", arguments: [id.description])
        }
    }

    /// A recording; `nil`: there is none of that name.
    ///
    /// - Throws: `StorageError.failed`.
    package func recording(_ id: RecordingID) async throws(StorageError) -> Recording? {
        try await read("SELECT * FROM recording WHERE id = ?", [id.description]).first
    }

    /// The recordings of an application; see `RecordingRepository`.
    ///
    /// - Throws: `StorageError.failed`.
    package func recordings(
        of application: ApplicationIdentity, _ filter: RecordingFilter, after place: RecordingPlace?, limit: Int
    ) async throws(StorageError) -> [Recording] {
        var conditions = ["applicationNumber = ?", "application = ?"]
        var arguments: StatementArguments = [application.number, application.name.description]
        if let session = filter.session {
            conditions.append("session = ?")
            arguments += [session.rawValue]
        }
        if let tag = filter.tag {
            conditions.append("tag = ?")
            arguments += [tag]
        }
        switch filter.state {
        case nil: break
        case .stopped: conditions.append("reason IS NOT NULL")
        case .recording, .paused: conditions.append("reason IS NULL")
        }
        if let place {
            conditions.append("(startedAt, id) > (?, ?)")
            arguments += [place.time, place.id]
        }
        arguments += [limit]
        return try await read(
            "SELECT * FROM recording WHERE \(conditions.joined(separator: " AND ")) ORDER BY startedAt, id LIMIT ?",
            arguments)
    }

    /// The recordings that were not over when they were last written.
    ///
    /// - Throws: `StorageError.failed`.
    package func unfinished() async throws(StorageError) -> [Recording] {
        try await read("SELECT * FROM recording WHERE reason IS NULL ORDER BY startedAt, id", [])
    }

    /// The oldest recordings that have to go; see `RecordingRepository`.
    ///
    /// - Throws: `StorageError.failed`.
    package func surplus(endedBefore time: Int64, bytes: Int) async throws(StorageError) -> [Recording] {
        try await read(
            """
            SELECT * FROM (SELECT *, sum(bytes) OVER (ORDER BY endedAt DESC, id DESC) AS kept FROM recording
            WHERE endedAt IS NOT NULL) WHERE endedAt < ? OR kept > ? OR applicationNumber NOT IN
            (SELECT number FROM application) ORDER BY endedAt, id
            """, [time, bytes])
    }

    // MARK: Rows

    private func write(_ change: @escaping @Sendable (Database) throws -> Void) async throws(StorageError) {
        try await storageErrors(at: queue.path) { try await queue.write { try change($0) } }
    }

    private func read(_ sql: String, _ arguments: StatementArguments) async throws(StorageError) -> [Recording] {
        try await storageErrors(at: queue.path) {
            try await queue.read { database in
                try Row.fetchAll(database, sql: sql, arguments: arguments).map(Self.recording)
            }
        }
    }

    private static func recording(_ row: Row) throws -> Recording {
        let (name, application, address): (String, String, String) = (row["id"], row["application"], row["address"])
        let (call, format, sides): (String, String, String) = (row["call"], row["format"], row["sides"])
        let (session, reason, trace): (String, String?, String?) = (row["session"], row["reason"], row["trace"])
        guard let id = RecordingID(name), let application = ApplicationName(application),
            let address = UserAddress(parsing: address), let call = UInt64(call, radix: 16),
            let format = RecordRequest.Format(rawValue: format), let sides = RecordRequest.Sides(rawValue: sides),
            let request = try? RecordRequest(format: format, sides: sides, channels: row["channels"], tag: row["tag"])
        else { throw StorageError.failed("the database holds a recording that is none: \(name)") }
        let recording = Recording(
            id, request, of: ApplicationIdentity(name: application, number: row["applicationNumber"]), at: address,
            in: CallID(call), as: SessionID(session), time: row["startedAt"], trace: trace.flatMap { TraceContext($0) })
        guard let reason else { return recording }
        guard let end = RecordingEnd(rawValue: reason) else {
            throw StorageError.failed("the database holds a reason of an end that is none: \(reason)")
        }
        return recording.ended(
            end, milliseconds: row["milliseconds"], bytes: row["bytes"], time: row["endedAt"] ?? 0)
    }
}
