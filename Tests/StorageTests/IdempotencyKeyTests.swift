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
            #expect(try await reserve("c", of: bots, database) == .reserved)
            #expect(try await reserve("d", of: bots, database) == .full(.milliseconds(60_001)))
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
}
