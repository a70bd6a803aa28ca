import CallControl
import CallRuntime
import CallSupport
import Logging
import Primitives
import Storage
import Testing

/// What is known of recordings, in the database.
struct RecordingStoreTests {
    private let bots = ApplicationIdentity("bots#1")!
    private let others = ApplicationIdentity("others#2")!

    private func database() async throws -> GatewayDatabase {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let database = try GatewayDatabase(.temporary, logger: logger)
        for each in [bots, others] {
            try await database.applications.add(
                StoredApplication(name: each.name, number: each.number, domain: "example.com", secret: Redacted("s")))
        }
        return database
    }

    private func recording(
        _ number: Int, of application: ApplicationIdentity? = nil, session: String = "c1", tag: String? = nil,
        time: Int64 = 5, trace: TraceContext? = nil
    ) throws -> Recording {
        Recording(
            RecordingID(number, of: SessionID(session)),
            try RecordRequest(format: .wav, channels: 2, maximum: .seconds(9), silence: .seconds(2), tag: tag),
            of: application ?? bots, at: try #require(UserAddress(parsing: "bot@example.com")),
            in: CallID(0xFFFF_FFFF_FFFF_FFFF), as: SessionID(session), time: time, trace: trace)
    }

    @Test func `a recording is read as it was last written`() async throws {
        let database = try await database()
        let store = database.recordings
        let trace = try #require(TraceContext("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
        let going = try recording(1, tag: "order 7", trace: trace)
        try await store.add(going)
        #expect(try await store.recording(going.id) == going)
        #expect(try await store.unfinished() == [going])
        #expect(try await store.unfinished().first?.trace == trace)
        let ended = going.ended(.silence, milliseconds: 1_980, bytes: 380_204, time: 9)
        try await store.change(ended)
        #expect(try await store.recording(going.id) == ended)
        #expect(try await store.unfinished().isEmpty)
        try await store.remove(going.id)
        #expect(try await store.recording(going.id) == nil)
        try await store.change(ended)
        #expect(try await store.recording(going.id) == nil, "what was removed stays removed")
        try database.close()
    }

    @Test func `recordings are listed by their starts, their application's alone, and filtered`() async throws {
        let database = try await database()
        let store = database.recordings
        let all = try [
            recording(1, time: 7), recording(2, session: "c2", tag: "x", time: 6), recording(3, time: 7),
            recording(4, time: 5).ended(.command, milliseconds: 20, bytes: 44, time: 8),
            recording(5, of: others),
        ]
        for each in all { try await store.add(each) }
        func listed(_ filter: RecordingFilter = .init(), after: RecordingPlace? = nil, limit: Int = 9) async throws
            -> [String]
        {
            try await store.recordings(of: bots, filter, after: after, limit: limit).map(\.id.description)
        }
        #expect(try await listed() == ["c1-4", "c2-2", "c1-1", "c1-3"])
        #expect(try await listed(limit: 2) == ["c1-4", "c2-2"])
        #expect(try await listed(after: .init(time: 6, id: "c2-2")) == ["c1-1", "c1-3"])
        #expect(try await listed(after: .init(time: 7, id: "c1-1")) == ["c1-3"])
        #expect(try await listed(.init(session: SessionID("c2"))) == ["c2-2"])
        #expect(try await listed(.init(tag: "x")) == ["c2-2"])
        #expect(try await listed(.init(state: .stopped)) == ["c1-4"])
        #expect(try await listed(.init(state: .recording)) == ["c2-2", "c1-1", "c1-3"])
        #expect(try await listed(.init(state: .paused)) == ["c2-2", "c1-1", "c1-3"])
        try database.close()
    }

    @Test func `what is old, too much, or nobody's has to go, the oldest first`() async throws {
        let database = try await database()
        let store = database.recordings
        for (number, end) in [(1, 10), (2, 20), (3, 30)] as [(Int, Int64)] {
            try await store.add(recording(number).ended(.command, milliseconds: 20, bytes: 100, time: end))
        }
        try await store.add(recording(4))
        func surplus(_ time: Int64, _ bytes: Int) async throws -> [String] {
            try await store.surplus(endedBefore: time, bytes: bytes).map(\.id.description)
        }
        #expect(try await surplus(0, 300).isEmpty)
        #expect(try await surplus(20, 300) == ["c1-1"])
        #expect(try await surplus(0, 299) == ["c1-1"])
        #expect(try await surplus(0, 100) == ["c1-1", "c1-2"])
        #expect(try await surplus(0, 1) == ["c1-1", "c1-2", "c1-3"])
        try await database.applications.remove(bots.name)
        #expect(try await surplus(0, 300) == ["c1-1", "c1-2", "c1-3"], "and those that go on once they are over")
        try database.close()
    }

    @Test func `an application has nothing of an earlier one of its name`() async throws {
        let database = try await database()
        let store = database.recordings
        let former = try recording(1).ended(.command, milliseconds: 20, bytes: 100, time: 10)
        try await store.add(former)
        try await database.applications.remove(bots.name)
        try await database.applications.add(
            StoredApplication(name: bots.name, domain: "example.com", secret: Redacted("s")))
        let next = try #require(try await database.applications.application(bots.name)).identity
        // A call of the former one that ends late can still start a recording.
        let late = try recording(2).ended(.command, milliseconds: 20, bytes: 100, time: 11)
        try await store.add(late)
        #expect(try await store.recordings(of: next, .init(), after: nil, limit: 9).isEmpty)
        for id in [former.id, late.id] { #expect(try await store.recording(id)?.application == bots) }
        #expect(try await store.surplus(endedBefore: 0, bytes: 1_000).map(\.id) == [former.id, late.id])
        let own = try recording(3, of: next).ended(.command, milliseconds: 20, bytes: 100, time: 12)
        try await store.add(own)
        #expect(try await store.recordings(of: next, .init(), after: nil, limit: 9) == [own])
        try database.close()
    }
}
