import CallControl
import CallRuntime
import EventAPI
import Logging
import Primitives
import Testing

import Storage

/// Webhooks of applications, and what they are owed.
struct WebhookStoreTests {
    private let bots = ApplicationIdentity("bots#1")!

    private func database() async throws -> GatewayDatabase {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let database = try GatewayDatabase(.temporary, logger: logger)
        _ = try database.openJournal(.init(), clock: FixedClock(), logger: logger)
        try await database.applications.add(
            StoredApplication(name: bots.name, number: bots.number, domain: "example.com", secret: Redacted("s")))
        return database
    }

    private func webhook(_ id: String) -> Webhook {
        Webhook(
            id: id, application: bots, url: "https://bots.example/\(id)", keys: Redacted(["whsec_a", "whsec_b"]),
            types: ["call.*"])
    }

    private func delivery(_ number: Int64) -> WebhookQueue.Delivery {
        WebhookQueue.Delivery(number: number, call: "a", content: Array("{}".utf8))
    }

    @Test func `a webhook is read as it was last written, and gone with its application`() async throws {
        let database = try await database()
        let store = database.webhooks
        var changed = webhook("2")
        try await store.put(changed)
        try await store.put(webhook("1"))
        (changed.isEnabled, changed.disabledBecause, changed.types) = (false, "gone", [])
        try await store.put(changed)
        #expect(try await store.allWebhooks() == [webhook("1"), changed])
        try await store.remove("1")
        #expect(try await store.allWebhooks() == [changed])
        var stray = webhook("3")
        stray.application = ApplicationIdentity("others#2")!
        await #expect(throws: StorageError.noSuchApplication(stray.application.name)) { try await store.put(stray) }
        try await database.applications.remove(bots.name)
        #expect(try await store.allWebhooks().isEmpty)
        try database.close()
    }

    @Test func `a webhook that is written late does not come to an application of the removed one's name`()
        async throws
    {
        let database = try await database()
        let store = database.webhooks
        try await store.put(webhook("1"))
        try await database.applications.remove(bots.name)
        try await database.applications.add(
            StoredApplication(name: bots.name, domain: "example.com", secret: Redacted("s")))
        await #expect(throws: StorageError.noSuchApplication(bots.name)) { try await store.put(webhook("1")) }
        #expect(try await store.allWebhooks().isEmpty)
        var own = webhook("2")
        own.application = try #require(try await database.applications.application(bots.name)).identity
        try await store.put(own)
        #expect(try await store.allWebhooks() == [own])
        try database.close()
    }

    @Test func `what is owed is found in order, with what attempts have led to`() async throws {
        let database = try await database()
        let store = database.webhooks
        #expect(try await store.outbox(of: "1") == nil)
        try await store.take([delivery(2), delivery(1), delivery(3), delivery(4)], through: 9, for: "1")
        var (failed, parked) = (delivery(2), delivery(3))
        (failed.attempts, failed.failingSince, failed.reason) = (2, 77, "no")
        (parked.attempts, parked.failingSince, parked.reason) = (9, 78, "never")
        try await store.settle([1: .delivered, 2: .retried(failed), 3: .parked(parked)], of: "1")
        let found = try #require(try await store.outbox(of: "1"))
        #expect(found.deliveries == [failed, delivery(4)] && found.place == 9)
        #expect(
            try await store.progress() == ["1": WebhookProgress(waiting: 2, parked: 1, reason: "never")])
        (parked.attempts, parked.failingSince) = (0, nil)
        #expect(try await store.unpark("1") == [parked])
        #expect(try await store.outbox(of: "1")?.deliveries == [failed, parked, delivery(4)])
        try await store.removeAll(but: ["1"])
        #expect(try await store.outbox(of: "1") != nil)
        try await store.removeAll(but: [])
        #expect(try await store.outbox(of: "1") == nil)
        #expect(try await store.progress().isEmpty)
        try database.close()
    }
}
