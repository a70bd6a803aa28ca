import Cryptography
import Foundation
import Logging
import NIOHTTP1
import Observability
import Primitives
import Push
import PushClient
import Synchronization
import Testing

/// Webhooks over HTTP/1.1, which many servers have; HTTP/2 is in Tests/IntegrationTests/test_push_providers.py.
@Suite struct `Pushes to webhooks` {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "webhooks-\(UUID().uuidString)")
    private let certificate: Certificate
    private let metrics = GatewayMetrics(version: "test", startTime: 0)

    init() throws {
        certificate = try Certificate(commonName: "test", alternativeNames: ["IP:127.0.0.1"])
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(certificate.certificatePEM.utf8).write(to: folder.appending(path: "authority.pem"))
        try writeKey(size: 32)
    }

    /// Writes a key of as many bytes: the time of a file has a resolution, but another size is another state anyway.
    private func writeKey(size: Int) throws {
        let key = Data(repeating: 7, count: size).base64EncodedString()
        try Data("whsec_\(key)\n".utf8).write(to: folder.appending(path: "com.example.app"))
    }

    private func server(answers: Bool) throws -> WebhookServer {
        try WebhookServer(
            certificate: certificate.certificatePEM, key: certificate.privateKeyPEM.value, answers: answers)
    }

    /// - Parameters:
    ///   - attemptTime: how long an answer is waited for.
    ///   - capacity: how many pushes may wait; for a test of the limit.
    ///   - lookUp: what becomes of registrations while pushes wait.
    private func client(
        attemptTime: Duration = .seconds(10), capacity: Int = 10_000,
        lookUp: @escaping PushClient.LookUp = { $0 }
    ) throws -> PushClient {
        var configuration = PushConfiguration()
        configuration.queue.capacity = capacity
        configuration.attemptTime = attemptTime
        configuration.webhookKeyFolder = folder.path
        configuration.authorityPath = folder.appending(path: "authority.pem").path
        configuration.allowedAddresses = [try #require(IPAddressRange("127.0.0.1"))]
        return try PushClient(
            configuration, lookUp: lookUp, metrics: metrics,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private func message(_ name: String) -> PushMessage {
        let now = UInt64(Date().timeIntervalSince1970 * 1_000)
        return PushMessage(id: PushID(naming: name), .refresh, forms: [], time: now, expires: now + 3_600_000)
    }

    private func call(_ name: String) -> PushMessage {
        var message = message(name)
        message.kind = .call(PushedCall(session: name, callerName: "", callerNumber: "1", hasVideo: false))
        return message
    }

    private func registration(_ url: String) throws -> PushRegistration {
        try PushRegistration(
            id: "d1", user: "joe@example.com", bundleID: "com.example.app", realm: "default", services: [],
            clientCorrelator: nil, target: .webhook(url: url))
    }

    @Test func `a webhook that does not answer holds up no other`() async throws {
        let (silent, good) = (try server(answers: false), try server(answers: true))
        // However slow the machine is, the silent one is waited for while the others are sent.
        let client = try client(attemptTime: .seconds(3_600))
        let stalled = try registration(silent.url)
        let outcomes = Mutex<[PushOutcome]>([])
        // More than there may be in flight to it.
        for index in 0..<100 {
            client.send(message("stalled-\(index)"), to: stalled) { outcome, _ in
                outcomes.withLock { $0.append(outcome) }
            }
        }
        for index in 0..<20 {
            #expect(
                await client.send(message("good-\(index)"), to: try registration(good.url)) == .delivered(name: nil))
        }
        #expect(outcomes.withLock { $0 } == [])
        #expect(metrics.pushesActive.value == 100)
        client.shutDown()
        #expect(outcomes.withLock { $0 } == Array(repeating: .givenUp(.shutDown), count: 100))
        try await silent.stop()
        try await good.stop()
    }

    @Test func `a webhook that does not answer takes no room from another`() async throws {
        let (silent, good) = (try server(answers: false), try server(answers: true))
        let client = try client(attemptTime: .seconds(3_600), capacity: 30)
        let stalled = try registration(silent.url)
        let ended = Mutex<[Int: PushOutcome]>([:])
        for index in 0..<31 {
            client.send(message("stalled-\(index)"), to: stalled) { outcome, _ in
                ended.withLock { $0[index] = outcome }
            }
        }
        // The silent one has all of the room, and so is given no more.
        #expect(await client.send(message("stalled"), to: stalled) == .givenUp(.overloaded(last: nil)))
        #expect(ended.withLock { $0 } == [30: .givenUp(.overloaded(last: nil))])
        // Whoever has less takes the place of its latest push; the place stays taken by nobody.
        for index in 0..<5 {
            #expect(
                await client.send(message("good-\(index)"), to: try registration(good.url)) == .delivered(name: nil))
        }
        #expect(ended.withLock { $0 } == [29: .givenUp(.overloaded(last: nil)), 30: .givenUp(.overloaded(last: nil))])
        #expect(metrics.pushesActive.value == 29)
        client.shutDown()
        try await silent.stop()
        try await good.stop()
    }

    @Test func `a call takes the place of a push to any webhook that is about none`() async throws {
        let (silent, good) = (try server(answers: false), try server(answers: true))
        // Of 30 pushes to the silent one 20 are in flight.
        let client = try client(attemptTime: .seconds(3_600), capacity: 30)
        let stalled = try registration(silent.url)
        let ended = Mutex<[String: PushOutcome]>([:])
        let names = (0..<30).map { "silent-\($0)" } + (0..<10).map { "call-\($0)" }
        for name in names {
            client.send(name.hasPrefix("call") ? call(name) : message(name), to: stalled) { outcome, _ in
                ended.withLock { $0[name] = outcome }
            }
        }
        // Nothing waits any more but calls. The host has all of the room itself.
        #expect(await client.send(call("late"), to: stalled) == .givenUp(.overloaded(last: nil)))
        var overloaded: [String: PushOutcome] = [:]
        for name in names[20..<30] { overloaded[name] = .givenUp(.overloaded(last: nil)) }
        #expect(ended.withLock { $0 } == overloaded)
        // A host that has less takes the place of a call for a call, and for nothing else.
        let other = try registration(good.url)
        #expect(await client.send(message("other"), to: other) == .givenUp(.overloaded(last: nil)))
        #expect(await client.send(call("other call"), to: other) == .delivered(name: nil))
        #expect(ended.withLock { $0["call-9"] } == .givenUp(.overloaded(last: nil)))
        #expect(ended.withLock { $0.count } == 11 && metrics.pushesActive.value == 29)
        client.shutDown()
        try await silent.stop()
        try await good.stop()
    }

    @Test func `a push goes to where its device is when it is sent, and to nobody else`() async throws {
        let (former, present) = (try server(answers: true), try server(answers: true))
        let (old, new) = (try registration(former.url), try registration(present.url))
        let now = Mutex<PushRegistration?>(new)
        let client = try client { _ in now.withLock { $0 } }
        let ended = Mutex<(PushOutcome, PushRegistration)?>(nil)
        client.send(message("moved"), to: old) { outcome, sent in ended.withLock { $0 = (outcome, sent) } }
        while ended.withLock({ $0 == nil }) { try await Task.sleep(for: .milliseconds(5)) }
        #expect(ended.withLock { $0?.0 } == .delivered(name: nil) && ended.withLock { $0?.1 } == new)
        #expect(former.requests.isEmpty && present.requests.count == 1)
        now.withLock { $0 = nil }
        #expect(await client.send(message("gone"), to: old) == .givenUp(.unregistered))
        #expect(former.requests.isEmpty && present.requests.count == 1)
        #expect(metrics.pushesActive.value == 0)
        client.shutDown()
        try await former.stop()
        try await present.stop()
    }

    @Test func `a push that waits to be sent again is looked up again`() async throws {
        let silent = try server(answers: false)
        let present = try server(answers: true)
        let (old, new) = (try registration(silent.url), try registration(present.url))
        let asked = Mutex(0)
        // The first attempt has no answer in time. Meanwhile the device registers anew.
        let client = try client(attemptTime: .seconds(2)) { _ in
            asked.withLock { asked in
                asked += 1
                return asked == 1 ? old : new
            }
        }
        let ended = Mutex<PushOutcome?>(nil)
        client.send(message("again"), to: old) { outcome, _ in ended.withLock { $0 = outcome } }
        while ended.withLock({ $0 == nil }) { try await Task.sleep(for: .milliseconds(5)) }
        #expect(ended.withLock { $0 } == .delivered(name: nil))
        #expect(silent.requests.count <= 1 && !present.requests.isEmpty)
        client.shutDown()
        try await silent.stop()
        try await present.stop()
    }

    @Test func `a key that changes in its file is used from the next push on`() async throws {
        let (server, client) = (try server(answers: true), try client())
        let registration = try registration(server.url)
        for size in [32, 32, 40] {
            try writeKey(size: size)
            #expect(await client.send(message("same"), to: registration) == .delivered(name: nil))
        }
        for ((head, body), size) in zip(server.requests, [32, 32, 40]) {
            let seconds = try #require(head.headers["webhook-timestamp"].first.flatMap { UInt64($0) })
            let signed = WebhookPush.signedBytes(
                name: try #require(head.headers["webhook-id"].first), seconds: seconds, content: body)
            let code = HMAC.sha256(key: [UInt8](repeating: 7, count: size), signed.span)
            #expect(head.headers["webhook-signature"] == ["v1,\(Data(code).base64EncodedString())"])
        }
        #expect(server.requests.count == 3)
        client.shutDown()
        try await server.stop()
    }
}
