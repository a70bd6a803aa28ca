import CallControl
import CallRuntime
import CallSupport
import Foundation
import GRDB
import Logging
import Registration
import Sockets
import Testing

import Storage

/// Copies of the database, and the lock that keeps gateways from sharing one.
@Suite struct DatabaseCopyTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private let alice = StoredUser(
        address: UserAddress(parsing: "alice@example.com")!, passwordRecord: "$scrypt$a", identity: AccountIdentity(1))

    /// Runs `body` with a folder, and cleans up.
    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "copy-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        try await body(folder)
    }

    private func open(_ path: String) throws -> (GatewayDatabase, JournalStore) {
        let database = try GatewayDatabase(.file(path), logger: Self.logger)
        return (database, try database.openJournal(.init(), clock: FixedClock(), logger: Self.logger))
    }

    /// A database in use, with a user, a subscription, a notification and a record.
    private func fill(_ path: String) async throws -> GatewayDatabase {
        let (database, journal) = try open(path)
        _ = try await journal.contents()
        try await database.users.add(alice)
        journal.append([
            .registration(.subscribed(JournalConformance.subscription())), .event(JournalConformance.event(1)),
            .registration(.notified("s1", JournalConformance.frame(5_000, .call(JournalConformance.event(1))))),
            .record(CallLogConformance.record("a")), .record(CallLogConformance.record("b", isOver: false)),
        ])
        try await journal.durable()
        return database
    }

    @Test func `a backup of a database in use is restored, and no number is given twice`() async throws {
        try await withFolder { folder in
            let (path, copy) = (folder.appending(path: "a.sqlite").path, folder.appending(path: "copy.sqlite").path)
            let database = try await fill(path)
            try DatabaseCopy.back(up: path, to: copy)
            let mode = try FileManager.default.attributesOfItem(atPath: copy)[.posixPermissions] as? NSNumber
            #expect(mode?.intValue == 0o600)
            try database.close()
            let other = folder.appending(path: "b.sqlite").path
            #expect(try !DatabaseCopy.restore(copy, to: other))
            let (second, journal) = try open(other)
            #expect(try await second.users.allUsers() == [alice])
            let contents = try await journal.contents()
            #expect(contents.calls.isEmpty)
            #expect(contents.subscriptions.map(\.numbered) == [1_005_000])
            #expect(contents.subscriptions.first?.frames.isEmpty == true)
            #expect(try await journal.callLog.records(of: alice.address, from: 0, count: 9).map(\.id) == ["a"])
            try second.close()
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            #expect(names == ["a.sqlite", "b.sqlite", "b.sqlite.lock", "copy.sqlite"])
        }
    }

    @Test func `what was there before a restore is kept`() async throws {
        try await withFolder { folder in
            let (path, copy) = (folder.appending(path: "a.sqlite").path, folder.appending(path: "copy.sqlite").path)
            try await fill(path).close()
            try DatabaseCopy.back(up: path, to: copy)
            let (database, _) = try open(path)
            try await database.users.remove(alice.address)
            try database.close()
            for _ in 0..<2 { #expect(try DatabaseCopy.restore(copy, to: path)) }
            let (restored, _) = try open(path)
            #expect(try await restored.users.allUsers() == [alice])
            try restored.close()
            let (kept, _) = try open(path + ".before-restore")
            #expect(try await kept.users.allUsers() == [alice], "the first restore is what was before the second")
            try kept.close()
        }
    }

    @Test func `a damaged database is replaced, a damaged backup is refused`() async throws {
        try await withFolder { folder in
            let (path, copy) = (folder.appending(path: "a.sqlite").path, folder.appending(path: "copy.sqlite").path)
            try await fill(path).close()
            try DatabaseCopy.back(up: path, to: copy)
            try Data("no database".utf8).write(to: URL(filePath: path))
            #expect(try DatabaseCopy.restore(copy, to: path))
            let good = try Data(contentsOf: URL(filePath: path))
            try Data(contentsOf: URL(filePath: copy)).prefix(6_000).write(to: URL(filePath: copy))
            let error = #expect(throws: StorageError.self) { _ = try DatabaseCopy.restore(copy, to: path) }
            #expect(error.map { "\($0)" }?.contains(copy) == true)
            #expect(try Data(contentsOf: URL(filePath: path)) == good)
        }
    }

    @Test func `a file that exists is not written over, and no other one is left`() async throws {
        try await withFolder { folder in
            let (path, copy) = (folder.appending(path: "a.sqlite").path, folder.appending(path: "copy.sqlite").path)
            let missing = #expect(throws: StorageError.self) { try DatabaseCopy.back(up: path, to: copy) }
            #expect(missing == .failed("\(path) does not exist"))
            try await fill(path).close()
            try Data("precious".utf8).write(to: URL(filePath: copy))
            let error = #expect(throws: StorageError.self) { try DatabaseCopy.back(up: path, to: copy) }
            #expect(error == .failed("\(copy) exists: name a file that does not"))
            #expect(try Data(contentsOf: URL(filePath: copy)) == Data("precious".utf8))
            let foreign = folder.appending(path: "foreign.sqlite").path
            try await DatabaseQueue(path: foreign).write { try $0.execute(sql: "CREATE TABLE t (x)") }
            let refusal = #expect(throws: StorageError.self) { _ = try DatabaseCopy.restore(foreign, to: path) }
            #expect(refusal == .failed("\(foreign) is not a database of orbweaver"))
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            #expect(names == ["a.sqlite", "a.sqlite.lock", "copy.sqlite", "foreign.sqlite"])
        }
    }

    @Test func `a newer database is neither copied nor restored`() async throws {
        try await withFolder { folder in
            let (path, copy) = (folder.appending(path: "a.sqlite").path, folder.appending(path: "copy.sqlite").path)
            try await fill(path).close()
            let queue = try DatabaseQueue(path: path)
            try await queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('9 from the future')") }
            try queue.close()
            let expected = StorageError.failed("\(path) was written by a newer version of orbweaver")
            let error = #expect(throws: StorageError.self) { try DatabaseCopy.back(up: path, to: copy) }
            #expect(error == expected)
            let other = #expect(throws: StorageError.self) { _ = try DatabaseCopy.restore(path, to: copy) }
            #expect(other == expected)
            #expect(!FileManager.default.fileExists(atPath: copy))
        }
    }

    @Test func `one gateway at a time has a database, and nothing is restored meanwhile`() async throws {
        try await withFolder { folder in
            let (path, copy) = (folder.appending(path: "a.sqlite").path, folder.appending(path: "copy.sqlite").path)
            try await fill(path).close()
            try DatabaseCopy.back(up: path, to: copy)
            let lock = try DatabaseCopy.lock(path)
            let expected = StorageError.failed("another gateway runs on \(path): it holds \(path).lock")
            let error = #expect(throws: StorageError.self) { _ = try DatabaseCopy.lock(path) }
            #expect(error == expected)
            let refusal = #expect(throws: StorageError.self) { _ = try DatabaseCopy.restore(copy, to: path) }
            #expect(refusal == expected)
            lock.release()
            #expect(try DatabaseCopy.restore(copy, to: path))
        }
    }
}
