import CallControl
import CallRuntime
import CallSupport
import Foundation
import GRDB
import Logging
import Primitives
import Registration
import Synchronization
import TestSupport
import Testing

import Storage

@Suite struct GatewayDatabaseTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private let alice = StoredUser(
        address: UserAddress(parsing: "alice@example.com")!, passwordRecord: "$scrypt$a", identity: AccountIdentity(1))

    /// Runs `body` with the path of a database that does not exist yet, and cleans up.
    private func withPath(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "storage-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        try await body(folder.appending(path: "gateway.sqlite").path)
    }

    @Test func `what was written is there after a restart`() async throws {
        try await withPath { path in
            let first = try GatewayDatabase(.file(path), logger: logger)
            try await first.users.add(alice)
            try first.close()
            let second = try GatewayDatabase(.file(path), logger: logger)
            #expect(try await second.users.allUsers() == [alice])
            try second.close()
        }
    }

    @Test func `two processes may have it open, and see each other's changes`() async throws {
        try await withPath { path in
            let gateway = try GatewayDatabase(.file(path), logger: logger)
            let commandLine = try GatewayDatabase(.file(path), logger: logger)
            try await commandLine.users.add(alice)
            #expect(try await gateway.users.user(alice.address) == alice)
            try await gateway.users.remove(alice.address)
            #expect(try await commandLine.users.allUsers().isEmpty)
            try commandLine.close()
            try gateway.close()
        }
    }

    @Test func `a key is looked up while a write waits for another process`() async throws {
        try await withPath { path in
            let database = try GatewayDatabase(.file(path), logger: logger)
            let name = try #require(ApplicationName("bot"))
            try await database.applications.add(StoredApplication(name: name, domain: "", secret: Redacted("s")))
            let key = StoredApplicationKey(
                id: "k", application: name, ending: "end", createdAt: 0, createdBy: "test", expiresAt: nil)
            _ = try await database.applications.add(key, digest: [1], of: name)
            var configuration = GRDB.Configuration()
            configuration.allowsUnsafeTransactions = true
            let other = try DatabaseQueue(path: path, configuration: configuration)
            try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
            let isWritten = Mutex(false)
            let write = Task {
                try await database.users.add(alice)
                isWritten.withLock { $0 = true }
            }
            // The write has its connection by then, and waits for the lock.
            try await Task.sleep(for: .milliseconds(300))
            #expect(try await database.applications.application(ofKey: [1])?.key == key)
            #expect(try await database.applications.application(name)?.name == name)
            #expect(!isWritten.withLock { $0 })
            try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
            try await write.value
            try other.close()
            try database.close()
        }
    }

    @Test func `only the owner may read the file`() async throws {
        try await withPath { path in
            let database = try GatewayDatabase(.file(path), logger: logger)
            for file in [path, path + "-wal"] {
                let attributes = try FileManager.default.attributesOfItem(atPath: file)
                #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600, "\(file)")
            }
            try database.close()
        }
    }

    @Test func `a missing folder is named`() throws {
        let path = "/no/such/folder/gateway.sqlite"
        let error = #expect(throws: StorageError.self) { try GatewayDatabase(.file(path), logger: logger) }
        guard case .failed(let text) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(text.contains(path))
        #expect(text.contains("folder"))
    }

    @Test func `a file that is no database is refused`() async throws {
        try await withPath { path in
            try Data("this is no database, it only looks like a file".utf8).write(to: URL(filePath: path))
            #expect(throws: StorageError.self) { try GatewayDatabase(.file(path), logger: logger) }
        }
    }

    @Test(arguments: [
        ("text", "is not an SQLite database: correct storage.path, or put a backup in its place"),
        ("cut off", "is damaged: put a backup in its place"),
        ("folder", "cannot be opened: it must be a file that this user may read and write, and so must be its folder"),
    ])
    func `what is wrong with the file is said in a sentence that names it`(_ damage: String, _ sentence: String)
        async throws
    {
        try await withPath { path in
            let file = URL(filePath: path)
            switch damage {
            case "text": try Data(String(repeating: "this is no database. ", count: 100).utf8).write(to: file)
            case "cut off":
                try GatewayDatabase(.file(path), logger: logger).close()
                try Data(contentsOf: file).prefix(6_000).write(to: file)
            default: try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
            }
            let error = #expect(throws: StorageError.self) { try GatewayDatabase(.file(path), logger: logger) }
            #expect(error.map { "\($0)" } == "\(path) \(sentence)")
        }
    }

    @Test func `a page that is damaged in the middle of the file is seen only if all are looked at`() async throws {
        try await withPath { path in
            let first = try GatewayDatabase(.file(path), checksPages: true, logger: logger)
            for number in 0..<500 {
                let user = try #require(UserAddress(parsing: "user\(number)@example.com"))
                try await first.users.add(StoredUser(address: user, passwordRecord: "$scrypt$a"))
            }
            try first.close()
            let file = URL(filePath: path)
            var bytes = try Data(contentsOf: file)
            let row = try #require(bytes.range(of: Data("user250@example.com".utf8)))
            let page = row.lowerBound / 4_096 * 4_096
            bytes.replaceSubrange(page..<page + 4_096, with: Data(repeating: 0xAA, count: 4_096))
            try bytes.write(to: file)
            try GatewayDatabase(.file(path), logger: logger).close()
            let error = #expect(throws: StorageError.self) {
                try GatewayDatabase(.file(path), checksPages: true, logger: logger)
            }
            let sentence = error.map { "\($0)" } ?? ""
            #expect(sentence.hasPrefix("\(path) is damaged") && sentence.hasSuffix(": put a backup in its place"))
            #expect(!sentence.contains("\n"))
        }
    }

    @Test func `a database knows whether it has any users`() async throws {
        let database = try GatewayDatabase(.temporary, logger: logger)
        #expect(try await database.users.isEmpty)
        try await database.users.add(alice)
        #expect(try await !database.users.isEmpty)
    }

    @Test func `users of the second schema are there in the newest, and can get auth names`() async throws {
        try await withPath { path in
            let old = try DatabaseQueue(path: path)
            let schema = try Fixtures.text("storage/schema-2.sql")
            try await old.write { try $0.execute(sql: schema) }
            try old.close()
            let database = try GatewayDatabase(.file(path), logger: logger)
            var expected = alice
            expected.identity = AccountIdentity(0)
            expected.displayName = "Alice"
            #expect(try await database.users.allUsers() == [expected])
            expected.authName = AuthName("liddell")
            try await database.users.setAuthName(expected.authName, of: alice.address)
            #expect(try await database.users.allUsers() == [expected])
            try database.close()
        }
    }

    @Test func `a database of the third schema gets a journal, and keeps its users`() async throws {
        try await withPath { path in
            let old = try DatabaseQueue(path: path)
            let schema = try Fixtures.text("storage/schema-3.sql")
            try await old.write { try $0.execute(sql: schema) }
            try old.close()
            let database = try GatewayDatabase(.file(path), logger: logger)
            var expected = alice
            expected.identity = AccountIdentity(0)
            (expected.displayName, expected.authName) = ("Alice", AuthName("liddell"))
            #expect(try await database.users.allUsers() == [expected])
            let journal = try database.openJournal(.init(), clock: FixedClock(), logger: logger)
            #expect(try await journal.contents() == JournalContents())
            try database.close()
        }
    }

    @Test func `a database of the fourth schema gets a call log, and keeps what the journal has`() async throws {
        try await withPath { path in
            let old = try DatabaseQueue(path: path)
            let schema = try Fixtures.text("storage/schema-4.sql")
            try await old.write { try $0.execute(sql: schema) }
            try old.close()
            let database = try GatewayDatabase(.file(path), logger: logger)
            #expect(try await database.users.allUsers().map(\.address) == [alice.address])
            let journal = try database.openJournal(.init(), clock: FixedClock(), logger: logger)
            #expect(try await journal.contents().subscriptions.map(\.subscription.id) == ["s1"])
            #expect(try await journal.callLog.records(of: alice.address, from: 0, count: 9).isEmpty)
            try database.close()
        }
    }

    @Test func `a database of the fifth schema can keep what later ones do, and keeps its own`()
        async throws
    {
        try await withPath { path in
            let old = try DatabaseQueue(path: path)
            let schema = try Fixtures.text("storage/schema-5.sql")
            try await old.write { try $0.execute(sql: schema) }
            try old.close()
            let database = try GatewayDatabase(.file(path), logger: logger)
            let accounts = try await database.users.accounts(AccountFilter(), after: nil, limit: 9)
            #expect(accounts.map(\.user.address) == [alice.address] && accounts.map(\.isEnabled) == [true])
            #expect(try await database.users.user(alice.address)?.authName == AuthName("liddell"))
            #expect(try await database.administration.adminTokens().isEmpty)
            #expect(try await database.administration.audit(before: nil, who: nil, limit: 9).isEmpty)
            #expect(try await database.users.allUsers().map(\.address) == [alice.address])
            let records = try await DatabaseQueue(path: path).read {
                try String.fetchAll($0, sql: "SELECT id FROM callRecord")
            }
            #expect(records == ["l1"])
            #expect(try await database.applications.allApplications().isEmpty)
            let journal = try database.openJournal(.init(), clock: FixedClock(), logger: logger)
            let contents = try await journal.contents()
            #expect(contents.subscriptions.map { $0.frames.map(\.notice) } == [[.ping]])
            #expect(contents.services == StoredServices())
            let count = VoicemailCount(unheard: 1, heard: 0)
            journal.append(.registration(.service(.voicemail(count, of: alice.address))))
            try await journal.durable()
            #expect(try await journal.contents().services.voicemail == [alice.address: count])
            #expect(try await database.addressBooks.entries(of: alice.address).isEmpty)
            let ann = AddressBookEntry(nickname: "ann", details: [.firstName: "Ann"], isFriend: true)
            try await database.addressBooks.add([ann], to: alice.address, limit: 1)
            #expect(try await database.addressBooks.entries(of: alice.address) == [ann])
            try database.close()
            let kept = try DatabaseQueue(path: path)
            #expect(try await kept.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM callRecord") } == 1)
            try kept.close()
        }
    }

    @Test func `applications of the twentieth schema get numbers, and have what was theirs by name`() async throws {
        try await withPath { path in
            let old = try DatabaseQueue(path: path)
            let scripts = try (5...20).map { try Fixtures.text("storage/schema-\($0).sql") }
            try await old.write { database in
                for script in scripts { try database.execute(sql: script) }
                try database.execute(
                    sql: """
                        INSERT INTO application (name, domain, secret) VALUES ('bots', '', 's'), ('quiet', '', 's');
                        INSERT INTO webhook VALUES ('w1', 'bots', 'https://bots.example/', 'whsec_a', '', 1, NULL);
                        INSERT INTO recording VALUES
                            ('c1-1', 'bots', 'b@example.com', 'c1', '7', 'wav', 'both', 1, NULL, 'command', 1, 2, 3, 4),
                            ('c2-1', 'gone', 'b@example.com', 'c2', '8', 'wav', 'both', 1, NULL, 'command', 1, 2, 3, 4);
                        INSERT INTO publicEvent VALUES
                            (1, '7', 'leg.held', 1, 'application bots', '{}'),
                            (2, '7', 'leg.held', 1, 'a@example.com' || char(10) || 'application bots', '{}'),
                            (3, '7', 'leg.held', 1, 'application gone', '{}');
                        INSERT INTO publicEventFloor VALUES ('application bots', 1), ('a@example.com', 1);
                        INSERT INTO idempotentRequest (key, fingerprint, time, process, application) VALUES
                            (X'6162', X'01', 1, 'p', 'bots'), (X'6364', X'01', 1, 'p', NULL);
                        INSERT INTO callEvent VALUES
                            (901, 7, 1, 1, 0, 0, '{"fact":{"joined":{"party":{"application":"bots"}}},"leg":1}'),
                            (902, 7, 1, 2, 0, 0, '{"fact":{"joined":{"party":{"application":"gone"}}},"leg":1}'),
                            (903, 7, 1, 3, 0, 0, 'no "application"')
                        """)
            }
            try old.close()
            let database = try GatewayDatabase(.file(path), logger: logger)
            let applications = try await database.applications.allApplications()
            #expect(Set(applications.map(\.number)).count == 2 && applications.allSatisfy { $0.number > 0 })
            let bots = try #require(applications.first).identity
            let kept = try await database.recordings.recordings(of: bots, .init(), after: nil, limit: 9)
            #expect(kept.map(\.id.description) == ["c1-1"])
            #expect(
                try await database.recordings.surplus(endedBefore: 0, bytes: 99).map(\.id.description) == ["c2-1"])
            try database.close()
            func texts(_ sql: String) async throws -> [String] {
                try await DatabaseQueue(path: path).read { try String.fetchAll($0, sql: sql) }
            }
            #expect(try await texts("SELECT applicationNumber || '' FROM webhook") == ["\(bots.number)"])
            #expect(
                try await texts("SELECT addresses FROM publicEvent ORDER BY number") == [
                    "application bots", "a@example.com\napplication \(bots)", "application gone",
                ])
            #expect(try await texts("SELECT address FROM publicEventFloor") == ["a@example.com"])
            #expect(
                try await texts("SELECT CAST(key AS TEXT) FROM idempotentRequest ORDER BY key")
                    == ["ab\(bots.number)", "cd"])
            let party = #""party":{"application":"#
            #expect(
                try await texts("SELECT event FROM callEvent WHERE number > 900 ORDER BY number") == [
                    #"{"fact":{"joined":{\#(party)"bots","applicationNumber":\#(bots.number)}}},"leg":1}"#,
                    #"{"fact":{"joined":{\#(party)"gone"}}},"leg":1}"#, #"no "application""#,
                ])
        }
    }

    @Test func `a database of a newer version is refused`() async throws {
        try await withPath { path in
            try GatewayDatabase(.file(path), logger: logger).close()
            let queue = try DatabaseQueue(path: path)
            try await queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('9 from the future')") }
            try queue.close()
            let error = #expect(throws: StorageError.self) { try GatewayDatabase(.file(path), logger: logger) }
            #expect(error == .failed("\(path) was written by a newer version of orbweaver"))
        }
    }
}
