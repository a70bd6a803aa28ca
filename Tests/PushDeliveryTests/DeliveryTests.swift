import CallControl
import CallRuntime
import Foundation
import Logging
import Observability
import Primitives
import Push
import PushDelivery
import Registration
import Sockets
import TestSupport
import Testing

/// What is made of a push that is owed, and what becomes of it.
@Suite struct `The delivery of pushes` {
    private static let alice = UserAddress(parsing: "alice@example.com")!
    private static let offer = """
        v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\nc=IN IP4 0.0.0.0\r
        a=rtpmap:111 opus/48000/2\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\nc=IN IP4 0.0.0.0\r\na=rtpmap:96 VP8/90000\r\n
        """
    private let journal = EntryJournal()
    private let sender = RecordingSender()
    private let news = RecordingNews()
    private let users = SomeUsers([alice: 1])
    private let directory: PushDirectory

    init() {
        directory = PushDirectory(
            limit: 9, users: users, journal: journal, clock: FixedClock(),
            metrics: GatewayMetrics(version: "test", startTime: 0), random: SeededRandomSource(seed: 1))
    }

    private func delivery(restoring restored: [OwedPush] = []) -> PushDelivery {
        PushDelivery(
            directory, through: sender, restoring: restored, journal: journal, clock: FixedClock(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private func register(_ token: String = "t") async throws -> PushDeviceID {
        try await directory.register(
            PushRegistration(
                id: "", user: Self.alice.text, bundleID: "com.example.app", realm: "default", services: ["call"],
                clientCorrelator: nil, target: .google(token: Redacted(token))), of: Self.alice)
    }

    /// What a device with an open channel is told.
    private static func event(_ fact: CallEvent.Fact, session: String = "B1") -> LoggedEvent {
        LoggedEvent(
            call: CallID(7), sequence: 2, startedAt: 1_700_000_000_000, elapsed: .zero,
            event: CallEvent(
                .callee, fact,
                to: CallEvent.Audience(
                    devices: [], session: SessionID(session),
                    local: DisplayName(name: "Alice", number: "alice@example.com"),
                    remote: .user(DisplayName(name: "Joe \"J\"", number: "+15550100")), isCalled: true)))
    }

    private static func call(
        _ device: PushDeviceID, name: String = "c", offer: String? = offer, expires: Int64 = 1_700_000_030_000
    ) -> OwedPush {
        OwedPush(
            name: name, user: alice, device: device,
            occasion: .call(
                event(
                    .invited(
                        devices: [],
                        invitation: CallEvent.Invitation(description: offer, mayForward: true)))),
            madeAt: 1_700_000_000_000, expiresAt: expires)
    }

    private static func over(_ device: PushDeviceID, name: String = "o") -> OwedPush {
        OwedPush(
            name: name, user: alice, device: device,
            occasion: .callOver(
                event(.released(.cancelled(reasonText: nil), by: .caller)), hasVideo: true, .remoteEnded),
            madeAt: 1_700_000_001_000, expiresAt: 1_700_000_031_000)
    }

    private static func silent(_ device: PushDeviceID, _ name: String, _ occasion: OwedPush.Occasion) -> OwedPush {
        OwedPush(
            name: name, user: alice, device: device, occasion: occasion, madeAt: 1_700_000_000_000,
            expiresAt: 1_700_000_030_000)
    }

    private var settled: [String] {
        journal.entries.compactMap { if case .pushSettled(let name) = $0 { name } else { nil } }
    }

    /// Runs the delivery until the condition holds.
    private func run(_ delivery: PushDelivery, until condition: () async -> Bool) async throws {
        let task = Task { await delivery.run(telling: news) }
        for _ in 0..<2_000 where await !condition() { try await Task.sleep(for: .milliseconds(5)) }
        #expect(await condition())
        task.cancel()
        await task.value
    }

    private static func json(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test func `a call is pushed with the notification of a channel, in three forms`() async throws {
        let (device, delivery) = (try await register(), delivery())
        delivery.send([Self.call(device)])
        try await run(delivery) { !sender.sent.isEmpty }
        let message = try #require(sender.sent.first?.message)
        #expect(message.id == PushID(naming: "c") && message.expires == 1_700_000_030_000)
        #expect(
            message.kind
                == .call(
                    PushedCall(session: "B1", callerName: "Joe \"J\"", callerNumber: "+15550100", hasVideo: true)))
        let forms = try message.forms.map(Self.json)
        #expect(forms.map { $0["eventType"] as? String } == ["call", "call", "call"])
        #expect(Set(forms.map { $0["eventId"] as? String }).count == 1)
        let sessions = forms.compactMap { $0["sessionParams"] as? [String: Any] }
        #expect(sessions.map { $0["sessionData"] as? String } == ["B1", "B1", "B1"])
        #expect(sessions.map { $0["sdpFormat"] as? String } == [nil, "compressed", nil])
        #expect(sessions[0]["sdp"] as? String == Self.offer && sessions[2]["sdp"] == nil)
        #expect(sessions[1]["sdp"] as? String == CompressedText(Self.offer).base64)
        #expect((sessions[0]["actions"] as? [String]) == ["answer", "reject", "forward"])
    }

    @Test func `silent pushes have the notification of a channel, and the latest one of a kind is enough`() async throws
    {
        let (device, delivery) = (try await register(), delivery())
        let occasions: [OwedPush.Occasion] = [
            .gone(ChannelID("c7")), .messageWaiting(VoicemailCount(unheard: 2, heard: 1)), .refresh,
        ]
        let task = Task { await delivery.run(telling: news) }
        // The last one would replace the first one if that were still owed.
        for (number, occasion) in occasions.enumerated() {
            delivery.send([Self.silent(device, "\(number)", occasion)])
            for _ in 0..<2_000 where settled.count == number { try await Task.sleep(for: .milliseconds(5)) }
        }
        task.cancel()
        await task.value
        try #require(sender.sent.count == 3 && settled.count == 3)
        let messages = sender.sent.map(\.message)
        #expect(messages.map(\.kind) == [.silent, .silent, .refresh])
        #expect(messages.map(\.collapseKey) == ["subscription", "mwi", "subscription"])
        #expect(messages.map(\.forms.count) == [1, 1, 1])
        let forms = try messages.map { try Self.json($0.forms[0]) }
        #expect(forms.map { $0["eventType"] as? String } == ["gone", "mwi", "ping"])
        #expect(forms.map { $0["notificationChannelId"] as? String } == ["c7", "", ""])
        #expect((forms[1]["mwiNotificationParams"] as? [String: String])?["unheardVoice"] == "2")
        #expect(Set(forms.compactMap { $0["eventId"] as? String }).count == 3)
    }

    @Test func `of several numbers of messages that are owed the latest is sent`() async throws {
        let (device, delivery) = (try await register(), delivery())
        delivery.send([
            Self.silent(device, "three", .messageWaiting(VoicemailCount(unheard: 3, heard: 0))),
            Self.silent(device, "gone", .gone(ChannelID("c7"))),
            Self.silent(device, "none", .messageWaiting(VoicemailCount(unheard: 0, heard: 3))),
        ])
        try await run(delivery) { settled.count == 3 }
        #expect(sender.sent.map(\.message.id) == [PushID(naming: "gone"), PushID(naming: "none")])
    }

    @Test func `a call without an offer has one form, and no video`() async throws {
        let (device, delivery) = (try await register(), delivery())
        delivery.send([Self.call(device, offer: nil)])
        try await run(delivery) { !sender.sent.isEmpty }
        let message = try #require(sender.sent.first?.message)
        guard case .call(let call) = message.kind else { throw CancellationError() }
        #expect(!call.hasVideo && message.forms.count == 1)
    }

    @Test func `what a provider has taken is settled`() async throws {
        let (device, delivery) = (try await register(), delivery())
        delivery.send([Self.call(device)])
        try await run(delivery) { settled == ["c"] }
        #expect(!delivery.isBusy && news.told.isEmpty)
    }

    @Test func `a call that is over before it was sent wakes nobody`() async throws {
        let (device, delivery) = (try await register(), delivery())
        delivery.send([Self.call(device), Self.over(device)])
        try await run(delivery) { settled == ["c", "o"] }
        #expect(sender.sent.isEmpty)
    }

    @Test func `a call that is over afterwards is ended by a push of its own`() async throws {
        let (device, delivery) = (try await register(), delivery())
        delivery.send([Self.call(device)])
        let task = Task { await delivery.run(telling: news) }
        for _ in 0..<2_000 where sender.sent.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        delivery.send([Self.over(device)])
        for _ in 0..<2_000 where sender.sent.count < 2 { try await Task.sleep(for: .milliseconds(5)) }
        task.cancel()
        await task.value
        #expect(sender.sent.count == 2)
        guard case .callOver(let call, .remoteEnded)? = sender.sent.last?.message.kind else {
            Issue.record("\(sender.sent)")
            return
        }
        #expect(call.session == "B1" && call.hasVideo)
        #expect(try Self.json(sender.sent[1].message.forms[0])["eventType"] as? String == "callEnd")
    }

    @Test func `a dead registration is removed, and its user told`() async throws {
        let (device, delivery) = (try await register(), delivery())
        sender.outcome.withLock { $0 = .registrationDead(reason: "Unregistered", since: nil) }
        delivery.send([Self.call(device)])
        try await run(delivery) { !news.told.isEmpty }
        #expect(news.told == ["\(device.rawValue) of alice@example.com: Unregistered"] && settled == ["c"])
        #expect(delivery.devices(of: Self.alice, account: nil).isEmpty)
    }

    @Test(
        arguments: [
            (.registrationDead(reason: "Unregistered", since: nil), true),
            (.givenUp(.refused(status: 400, reason: "BadTopic")), true), (.givenUp(.notConfigured), true),
            (.givenUp(.overloaded(last: nil)), true), (.givenUp(.unregistered), true), (.delivered(name: nil), false),
            (.givenUp(.overloaded(last: "status 503")), false),
            (.givenUp(.refused(status: 400, reason: "BadTopic", last: "status 503")), false),
            (.givenUp(.expired(last: "status 503")), false), (.givenUp(.withdrawn(last: nil)), false),
        ] as [(PushOutcome, Bool)])
    func `a call does not wait for a device whose push has failed`(_ outcome: PushOutcome, _ hasFailed: Bool)
        async throws
    {
        let (device, delivery) = (try await register(), delivery())
        sender.outcome.withLock { $0 = outcome }
        delivery.send([Self.call(device)])
        try await run(delivery) { settled == ["c"] }
        #expect(
            news.failed.withLock { $0 } == (hasFailed ? ["\(device.rawValue) for \(CallID(7)) \(LegID.callee)"] : []))
    }

    @Test func `the end of a call, and what is silent, tells no call that it has failed`() async throws {
        let (device, delivery) = (try await register(), delivery())
        sender.outcome.withLock { $0 = .givenUp(.refused(status: 400, reason: "BadTopic")) }
        delivery.send([
            Self.over(device),
            OwedPush(
                name: "r", user: Self.alice, device: device, occasion: .refresh, madeAt: 1_700_000_000_000,
                expiresAt: 1_700_000_030_000),
        ])
        try await run(delivery) { settled.count == 2 }
        #expect(news.failed.withLock { $0 }.isEmpty)
    }

    @Test func `it is the registration that was sent to which is dead`() async throws {
        let (device, delivery) = (try await register("old"), delivery())
        let old = try #require(await directory.registrations(of: Self.alice).first).registration
        _ = try await directory.update(
            PushRegistration(
                id: device.rawValue, user: Self.alice.text, bundleID: "com.example.app", realm: "default",
                services: ["call"], clientCorrelator: nil, target: .google(token: Redacted("new"))), of: Self.alice)
        sender.outcome.withLock { $0 = .registrationDead(reason: "Unregistered", since: nil) }
        sender.last.withLock { $0 = old }
        delivery.send([Self.call(device, name: "first")])
        try await run(delivery) { settled == ["first"] }
        #expect(news.told.isEmpty && delivery.devices(of: Self.alice, account: nil).count == 1)
        sender.last.withLock { $0 = directory.current(old) }
        let second = self.delivery()
        second.send([Self.call(device, name: "second")])
        try await run(second) { !news.told.isEmpty }
        #expect(delivery.devices(of: Self.alice, account: nil).isEmpty)
    }

    @Test func `a registration that is newer than the provider's word stays`() async throws {
        let (device, delivery) = (try await register(), delivery())
        sender.outcome.withLock { $0 = .registrationDead(reason: "Unregistered", since: 1_699_999_999_999) }
        delivery.send([Self.call(device)])
        try await run(delivery) { settled == ["c"] }
        #expect(news.told.isEmpty && delivery.devices(of: Self.alice, account: nil).map(\.id) == [device])
    }

    @Test func `a push to a device that is gone, or another user's, is settled`() async throws {
        let (device, delivery) = (try await register(), delivery())
        var others = Self.call(device, name: "other")
        others.user = UserAddress(parsing: "bob@example.com")!
        delivery.send([Self.call(PushDeviceID("none")), others])
        try await run(delivery) { settled == ["c", "other"] }
        #expect(sender.sent.isEmpty)
        #expect(news.failed.withLock { $0 }.count == 2, "no call waits for it")
    }

    @Test func `what could not be sent before the end is sent by the next process, under the same name`() async throws {
        let device = try await register()
        let first = delivery()
        sender.outcome.withLock { $0 = .givenUp(.shutDown) }
        first.send([Self.over(device)])
        try await run(first) { !sender.sent.isEmpty }
        #expect(settled.isEmpty)
        sender.outcome.withLock { $0 = .delivered(name: nil) }
        let second = delivery(restoring: [Self.over(device)])
        try await run(second) { settled == ["o"] }
        #expect(sender.sent.map(\.message.id) == [PushID(naming: "o"), PushID(naming: "o")])
    }

    @Test func `of a call that the last process may have sent, only the end is`() async throws {
        let device = try await register()
        let delivery = delivery(restoring: [Self.call(device)])
        // What the restoration of the call owes.
        delivery.send([Self.over(device)])
        try await run(delivery) { settled.count == 2 }
        guard case .callOver? = sender.sent.last?.message.kind, sender.sent.count == 1 else {
            Issue.record("\(sender.sent)")
            return
        }
    }

    @Test func `no call of an earlier process is sent`() async throws {
        let delivery = delivery(restoring: [Self.call(try await register())])
        try await run(delivery) { settled == ["c"] }
        #expect(sender.sent.isEmpty)
    }

    @Test(arguments: [("status 503", ["c", "o"], 2), (nil, ["c", "o"], 1)] as [(String?, [String], Int)])
    func `the end of a call whose push is on its way comes behind it, unless the call cannot have arrived`(
        _ last: String?, _ names: [String], _ count: Int
    ) async throws {
        let (device, delivery) = (try await register(), delivery())
        sender.outcome.withLock { $0 = nil }
        sender.withdrawal.withLock { $0 = last }
        delivery.send([Self.call(device)])
        let task = Task { await delivery.run(telling: news) }
        for _ in 0..<2_000 where sender.sent.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        sender.outcome.withLock { $0 = .delivered(name: nil) }
        delivery.send([Self.over(device)])
        for _ in 0..<2_000 where settled.count < 2 { try await Task.sleep(for: .milliseconds(5)) }
        task.cancel()
        await task.value
        #expect(settled == names && sender.sent.count == count)
    }

    @Test func `the push to a device that is back is withdrawn`() async throws {
        let (device, delivery) = (try await register(), delivery())
        sender.outcome.withLock { $0 = nil }
        delivery.send([Self.call(device)])
        let task = Task { await delivery.run(telling: news) }
        for _ in 0..<2_000 where sender.sent.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        delivery.withdraw(SessionID("B1"), from: device)
        for _ in 0..<2_000 where settled.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        task.cancel()
        await task.value
        #expect(settled == ["c"] && sender.sent.count == 1)
    }

    @Test func `what has expired meanwhile is not sent`() async throws {
        let device = try await register()
        let delivery = delivery(restoring: [Self.call(device, expires: 1_700_000_000_000)])
        try await run(delivery) { settled == ["c"] }
        #expect(sender.sent.isEmpty)
    }

    /// Python's `zlib.decompress` reads it.
    @Test func `a compressed text is zlib data`() {
        #expect(CompressedText("Wikipedia").base64 == "eJwKz8zOLEhNyUwEAAAA//8BAAD//xHmA5g=")
    }

    @Test func `a trial of a dead registration removes it`() async throws {
        let (device, delivery) = (try await register(), delivery())
        sender.outcome.withLock { $0 = .registrationDead(reason: "Unregistered", since: nil) }
        let outcome = await delivery.tryOut(device, with: .refresh)
        #expect(outcome == .registrationDead(reason: "Unregistered", since: nil))
        #expect(sender.sent.first?.message.kind == .refresh)
        try await run(delivery) { !news.told.isEmpty }
        #expect(delivery.devices(of: Self.alice, account: nil).isEmpty && journal.entries.count == 2)
        #expect(await delivery.tryOut(device, with: .refresh) == nil)
    }
}

/// Sends nothing.
final class RecordingSender: PushSender {
    private let log = Lock<[(message: PushMessage, registration: PushRegistration)]>([])
    /// What becomes of a push at once; `nil`: nothing, until it is withdrawn.
    let outcome = Lock(Optional(PushOutcome.delivered(name: nil)))
    /// What had become of the attempts of a push that is withdrawn; `nil`: there were none.
    let withdrawal = Lock(Optional("status 503"))
    private let open = Lock<[PushID: @Sendable (PushOutcome) -> Void]>([:])
    /// The registration that pushes were sent to in the end, if it is another one than they were handed over with.
    let last = Lock<PushRegistration?>(nil)

    var sent: [(message: PushMessage, registration: PushRegistration)] { log.withLock { $0 } }

    func send(
        _ message: PushMessage, to registration: PushRegistration,
        completion: @escaping @Sendable (PushOutcome, PushRegistration) -> Void
    ) {
        log.withLock { $0.append((message, registration)) }
        let outcome = outcome.withLock { $0 }
        let sent = last.withLock { $0 } ?? registration
        guard let outcome else { return open.withLock { $0[message.id] = { completion($0, sent) } } }
        completion(outcome, sent)
    }

    func withdraw(_ message: PushID) {
        open.withLock { $0.removeValue(forKey: message) }?(.givenUp(.withdrawn(last: withdrawal.withLock { $0 })))
    }
}

/// Remembers what it is told.
final class RecordingNews: PushNews {
    private let log = Lock<[String]>([])
    /// Devices that calls need not wait for.
    let failed = Lock<[String]>([])

    var told: [String] { log.withLock { $0 } }

    func pushInvalidated(_ registration: PushRegistration, of user: UserAddress, because reason: String) {
        log.withLock { $0.append("\(registration.id) of \(user): \(reason)") }
    }

    func notWoken(_ device: PushDeviceID, for told: LoggedEvent) {
        failed.withLock { $0.append("\(device.rawValue) for \(told.call) \(told.event.leg.map { "\($0)" } ?? "-")") }
    }
}
