import CallControl
import CallRuntime
import Cryptography
import EventAPI
import GatewayAPI
import HTTPTypes
import Primitives
import Registration
import SignalingServer
import Sockets
import Testing

/// Programs that follow the public log on WebSockets.
@Suite struct `Events on WebSockets` {
    private typealias Frame = WebSocketClient.Frame

    private struct Site: Sendable {
        let server: TestServer
        let key: String
        let log: TestLog
        /// Of those who read.
        let clock: ManualClock
        /// Whether the application may read.
        let isAdmitted: Lock<Bool>

        /// Opens a WebSocket, and takes its first message.
        func open(_ query: String = "", receiveBuffer: Int? = nil) async throws -> WebSocketClient {
            let connection = try await RawClient.connect(server.port, receiveBuffer: receiveBuffer)
            try await connection.send(WebSocketClient.handshake("\(Readings.path)?\(query)access_token=\(key)"))
            let head = HTTPText(await connection.read(until: HTTPText.headLength) ?? [])
            #expect(head.status == 101)
            let client = WebSocketClient(connection: connection)
            #expect(await client.receive()?.text.contains("stream.started") == true)
            return client
        }

        /// Publishes events until one reaches the client that it has not asked the log for.
        func waitUntilFollowing(_ client: WebSocketClient) async throws {
            for _ in 0..<500 {
                let pages = log.pages
                let event = log.publish("leg.held")
                #expect(await client.receive()?.text == event)
                if log.pages == pages { return }
                try await Task.sleep(for: .milliseconds(2))
            }
            Issue.record("it asks the log for each event")
        }
    }

    private func run(
        configure: (inout SignalingConfiguration) -> Void = { _ in }, _ body: (Site) async throws -> Void
    ) async throws {
        let name = try #require(ApplicationName("bot"))
        let applications = MemoryApplications([])
        var profile = ApplicationProfile()
        profile.scopes = [.events]
        try await applications.add(
            StoredApplication(
                name: name, domain: "", secret: Redacted(String(repeating: "0123456789abcdef", count: 4)),
                profile: profile))
        var random = SecureRandomSource()
        let key = ApplicationKey(random: &random)
        let stored = StoredApplicationKey(
            id: "k", application: name, ending: key.ending, createdAt: 0, createdBy: "test", expiresAt: nil)
        _ = try await applications.add(stored, digest: Digest.sha256.hash(Array(key.text.value.utf8)), of: name)
        let readings = Readings()
        try await TestServer.run(
            configure: configure, applications: applications, v1: readings, v1Sockets: readings, events: readings.log
        ) { server in
            try await body(
                Site(
                    server: server, key: key.text.value, log: readings.log, clock: readings.clock,
                    isAdmitted: readings.isAdmitted))
        }
    }

    @Test func `a program is sent each event that it wants once and in order, as it comes`() async throws {
        try await run { site in
            let all = try await site.open()
            try await site.waitUntilFollowing(all)
            let ends = try await site.open("types=call.ended&")
            let pages = site.log.pages
            var (wanted, last) = ([String](), [String]())
            for number in 1...200 {
                let isEnd = number % 10 == 0
                let event = site.log.publish(isEnd ? "call.ended" : "leg.held")
                wanted.append(event)
                if isEnd { last.append(event) }
            }
            for event in wanted { #expect(await all.receive()?.text == event) }
            for event in last { #expect(await ends.receive()?.text == event) }
            #expect(site.log.pages < pages + 100, "most were not asked for")
            await all.connection.close()
            await ends.connection.close()
        }
    }

    @Test func `messages of every length are frames`() async throws {
        try await run { site in
            let client = try await site.open()
            try await site.waitUntilFollowing(client)
            for length in [0, 60, 90, 200, 40_000] {
                let event = site.log.publish("leg.held", padding: length)
                #expect(await client.receive()?.text == event)
            }
            await client.connection.close()
        }
    }

    @Test func `a program that does not read is sent the rest out of the log`() async throws {
        try await run { site in
            let reader = try await site.open()
            let slow = try await site.open(receiveBuffer: 2_048)
            try await site.waitUntilFollowing(reader)
            // The slow one has got these, too.
            let before = site.log.last
            for _ in 0..<before { #expect(await slow.receive()?.opcode == Frame.text) }
            try await slow.connection.stopReading()
            var events: [String] = []
            for _ in 0..<100 {
                let event = site.log.publish("leg.held", padding: 10_000)
                events.append(event)
                #expect(await reader.receive()?.text == event)
            }
            try await slow.connection.resumeReading()
            for event in events { #expect(await slow.receive()?.text == event) }
            let next = site.log.publish("leg.held")
            #expect(await slow.receive()?.text == next)
            await reader.connection.close()
            await slow.connection.close()
        }
    }

    @Test func `who may not read any more is sent nothing of what comes`() async throws {
        try await run { site in
            let client = try await site.open()
            try await site.waitUntilFollowing(client)
            site.isAdmitted.withLock { $0 = false }
            site.clock.advance(by: EventReading.pulse + .seconds(1))
            site.server.clock.advance(by: EventReading.pulse + .seconds(1))
            _ = site.log.publish("leg.held")
            let frame = try #require(await client.receive())
            #expect(frame.opcode == Frame.close && frame.closeCode == 1_000)
        }
    }

    @Test func `a program that leaves takes nothing from the others, and the end of the log ends all`() async throws {
        try await run { site in
            let (first, second) = (try await site.open(), try await site.open())
            try await site.waitUntilFollowing(first)
            for _ in 0..<site.log.last { #expect(await second.receive()?.opcode == Frame.text) }
            await first.connection.close()
            for _ in 0..<20 {
                let event = site.log.publish("leg.held")
                #expect(await second.receive()?.text == event)
            }
            site.log.finish()
            #expect(await second.receiveClose() == 1_000)
        }
    }
}

/// Reads the log for whoever opens a WebSocket, and answers nothing else.
private final class Readings: V1Interface, V1Sockets {
    static let path = "/v1/events"

    let log = TestLog()
    let clock = ManualClock()
    let isAdmitted = Lock(true)

    func methods(at path: String) -> [HTTPRequest.Method] { [] }
    func answer(_ request: V1Request) async -> V1Answer { .refusal(V1Error(.resourceNotFound, "Nothing.")) }
    func finish() { log.finish() }
    func servesSockets(at path: String) -> Bool { path == Self.path }

    func open(_ request: V1Request) async throws(V1Error) -> V1Socket {
        let types = request.query?.split(separator: "=").last.map(String.init)
        do {
            let reading = try await EventReading(
                EventSelection(reader: .everything, types: types, calls: nil), from: .now,
                EventReading.Sources(log: log, calls: NoCalls(), journal: VolatileJournal(), clock: clock)
            ) { [isAdmitted] in isAdmitted.withLock { $0 } ? .everything : nil }
            return .messages(reading.messages(lasting: .seconds(3_600)))
        } catch {
            throw V1Error(.requestInvalidParameter, "\(error)")
        }
    }
}

/// A log in memory, in which nobody waits.
private final class TestLog: PublicEvents {
    private struct State: Sendable {
        var events: [PublicEvent] = []
        var followers: [@Sendable ([PublicEvent]?) -> Void] = []
        var pages = 0
        var isOver = false
    }

    let name = "ab"
    private let state = Lock(State())

    var last: Int64 { state.withLock { Int64($0.events.count) } }
    var removedThrough: Int64 { 0 }
    /// How often the log was asked.
    var pages: Int { state.withLock { $0.pages } }

    /// Publishes an event, and returns its JSON object.
    func publish(_ type: String, padding: Int = 0) -> String {
        let json = #"{"type":"\#(type)","words":"\#(String(repeating: "x", count: padding))"}"#
        let (event, followers) = state.withLock { state in
            let number = Int64(state.events.count + 1)
            let event = PublicEvent(
                number: number, call: "1", type: type, time: 0, scope: EventScope([]), json: Array(json.utf8))
            state.events.append(event)
            return (event, state.followers)
        }
        for follower in followers { follower([event]) }
        return String(decoding: event.object(in: name), as: UTF8.self)
    }

    func follow(_ told: @escaping @Sendable ([PublicEvent]?) -> Void) -> Int64 {
        state.withLock { state in
            state.followers.append(told)
            return Int64(state.events.count)
        }
    }

    func finish() {
        let followers = state.withLock { state in
            defer { state.followers = [] }
            state.isOver = true
            return state.followers
        }
        for follower in followers { follower(nil) }
    }

    func page(
        after number: Int64, _ selection: EventSelection, limit: Int, waitingUntil deadline: MonotonicTime
    ) async throws(StorageError) -> EventPage {
        state.withLock { state in
            state.pages += 1
            let rest = state.events.filter { $0.number > number }
            let wanted = rest.filter(selection.includes)
            return EventPage(
                events: Array(wanted.prefix(limit)),
                through: wanted.count > limit ? wanted[limit - 1].number : rest.last?.number ?? number,
                isOver: state.isOver)
        }
    }

    func floor(of reader: EventReader) async throws(StorageError) -> Int64 { 0 }
}

/// Nobody calls.
private struct NoCalls: Administration {
    var registeredUsers: [UserAddress] { get async { [] } }
    func subscriptions(of user: UserAddress) async -> [SubscriptionOverview] { [] }
    func dismissSubscription(_ user: UserAddress, _ subscription: SubscriptionID) async -> Bool { false }
    func dismissRemovedUsers() async throws(StorageError) {}
    var callsInProgress: [CallID] { [] }
    func overview(of call: CallID) async -> CallOverview? { nil }
    func endCall(_ call: CallID, reasonText: String?) async -> Bool { false }
    func voicemail(of user: UserAddress) async -> VoicemailCount { .empty }
    func setVoicemail(of user: UserAddress, to count: VoicemailCount) async throws(StorageError) {}
}
