import CallControl
import CallRuntime
import Foundation
import GRDB
import Logging
import Primitives
import Testing

import Storage

/// Idempotency keys in a file that other processes change, too.
struct IdempotencyKeyTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private let name = ApplicationName("bots")!

    private func withPath(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "keys-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        try await body(folder.appending(path: "gateway.sqlite").path)
    }

    private func open(_ path: String) throws -> GatewayDatabase {
        try GatewayDatabase(.file(path), logger: Self.logger)
    }

    private func addApplication(to database: GatewayDatabase) async throws -> ApplicationIdentity {
        try await database.applications.add(StoredApplication(name: name, domain: "", secret: Redacted("s")))
        return try #require(try await database.applications.application(name)).identity
    }

    private func reserve(
        _ key: String, of application: ApplicationIdentity?, at now: Int64 = 1_000, limit: Int = 2,
        _ database: GatewayDatabase
    ) async throws -> KeyReservation {
        try await database.administration.reserve(
            key: Array(key.utf8), fingerprint: [1], process: "p", of: application, at: now, age: .seconds(60),
            limit: limit)
    }

    @Test func `keys that another process has removed make room, and what is refused is full`() async throws {
        try await withPath { path in
            let database = try open(path)
            let bots = try await addApplication(to: database)
            for key in ["a", "b"] { #expect(try await reserve(key, of: bots, database) == .reserved) }
            #expect(try await reserve("c", of: bots, database) == .full(.milliseconds(60_001)))
            let other = try DatabaseQueue(path: path)
            try await other.write {
                try $0.execute(sql: "DELETE FROM idempotentRequest WHERE key = ?", arguments: [Data("a".utf8)])
            }
            let counted = "an application that goes on has its keys counted once a second"
            #expect(try await reserve("c", of: bots, at: 1_999, database) == .full(.milliseconds(59_002)), "\(counted)")
            #expect(try await reserve("c", of: bots, at: 2_000, database) == .reserved)
            #expect(try await reserve("d", of: bots, at: 2_000, database) == .full(.milliseconds(59_001)))
            try other.close()
            try database.close()
        }
    }

    @Test func `an application that another process has made again has all of its keys to use`() async throws {
        try await withPath { path in
            let (database, other) = (try open(path), try open(path))
            let former = try await addApplication(to: database)
            for key in ["a", "b"] { #expect(try await reserve(key, of: former, database) == .reserved) }
            #expect(try await reserve("c", of: former, database) == .full(.milliseconds(60_001)))
            try await other.applications.remove(name)
            let next = try await addApplication(to: other)
            for key in ["d", "e"] { #expect(try await reserve(key, of: next, database) == .reserved) }
            #expect(try await reserve("f", of: next, database) == .full(.milliseconds(60_001)))
            await #expect(throws: StorageError.noSuchApplication(name)) {
                _ = try await reserve("g", of: former, database)
            }
            try other.close()
            try database.close()
        }
    }

    @Test func `reservations that were given up are not counted, however many they were`() async throws {
        try await withPath { path in
            let database = try open(path)
            let bots = try await addApplication(to: database)
            #expect(try await reserve("kept", of: bots, database) == .reserved)
            for number in 1...10 {
                #expect(try await reserve("\(number)", of: bots, database) == .reserved)
                try await database.administration.keep(nil, for: Array("\(number)".utf8))
            }
            #expect(try await reserve("last", of: bots, database) == .reserved)
            #expect(try await reserve("more", of: bots, database) == .full(.milliseconds(60_001)))
            try database.close()
        }
    }

    /// Keys that were answered, `old1` to `old<count>`, at `time` and so many milliseconds after it.
    private func fill(_ path: String, of application: ApplicationIdentity?, count: Int, from time: Int64) async throws {
        let other = try DatabaseQueue(path: path)
        try await other.write {
            try $0.execute(
                sql: """
                    WITH RECURSIVE key(number) AS
                        (SELECT 1 UNION ALL SELECT number + 1 FROM key WHERE number < :count)
                    INSERT INTO idempotentRequest
                        (key, fingerprint, time, process, status, contentType, body, application)
                    SELECT CAST('old' || number AS BLOB), x'01', :time + number, 'p', 200, 'text/plain', x'02', :owner
                    FROM key
                    """, arguments: ["count": count, "time": time, "owner": application?.name.description])
        }
        try other.close()
    }

    private func rows(_ path: String) async throws -> Int? {
        let other = try DatabaseQueue(path: path)
        let count = try await other.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM idempotentRequest") }
        try other.close()
        return count
    }

    /// Before their time, and after it: the clock was put back.
    @Test(arguments: [0, 1_000_000] as [Int64], [true, false])
    func `keys whose time is over leave some at a time, and those that are left count for nothing`(
        time: Int64, isOfApplication: Bool
    ) async throws {
        try await withPath { path in
            let database = try open(path)
            let owner = try await isOfApplication ? addApplication(to: database) : nil
            let step = AdministrationStore.forgottenAtOnce
            let count = 2 * step + 200
            try await fill(path, of: owner, count: count, from: time)
            // The last one to be removed; it is replaced.
            let keys = ["old\(count)", "a", "b"]
            for (key, left) in zip(keys, [count - step, count - 2 * step + 1, 3]) {
                #expect(try await reserve(key, of: owner, at: 100_000, limit: 3, database) == .reserved)
                #expect(try await rows(path) == left)
            }
            for key in keys {
                #expect(try await reserve(key, of: owner, at: 100_000, limit: 3, database) == .inProgress)
            }
            let next = try await reserve("c", of: owner, at: 100_001, limit: 3, database)
            #expect(next == (isOfApplication ? .full(.milliseconds(60_000)) : .reserved))
            #expect(try await rows(path) == 3)
            try database.close()
        }
    }
}
