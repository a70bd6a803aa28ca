import ArgumentParser
import BenchValues
import CallControl
import EventAPI
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1

struct CallStartBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call-start",
        abstract: "A call request with a real offer, next to a bare Hummingbird route that only decodes the body.",
        discussion: """
            Both servers are processes of their own with one event loop; counted is the CPU of the whole process, that of media threads and
            of the notification to the callee included. Calls are ended outside of what is counted.

            What the public log of events costs is told in two parts: a gateway with events.count=0 writes no rows of it,
            and putting the events of one callStart into words for programs is counted in this process.
            """)

    @Option(help: "The gateway's program.")
    var gateway = ".build/release/orbweaver"

    @Option(help: "The offer.")
    var offer = "fixtures/sdp/chromium-156/offer-audio-video.sdp"

    @Option(help: "Requests per round.")
    var calls = 400

    @Option(help: "Rounds, at most 100; the servers take turns, and what is told is the median.")
    var rounds = 10

    @Option(help: "Where the gateway keeps what it promises: file or memory.")
    var store = GatewayStore.file

    func validate() throws {
        guard 1...100_000 ~= calls, 1...100 ~= rounds else {
            throw ValidationError("1 to 100000 requests and 1 to 100 rounds can be measured")
        }
    }

    func run() async throws {
        let sdp = try String(contentsOfFile: offer, encoding: .utf8)
        let body = try Self.body(sdp: sdp)
        let bare = try await BareServer()
        let heard = try await CallingGateway(gateway, store, calleeListens: true)
        let unheard = try await CallingGateway(gateway, store, calleeListens: false)
        let unwritten = try await CallingGateway(
            gateway, store, calleeListens: true, settings: ["events.count=0"])
        defer {
            bare.process.stop()
            heard.gateway.stop()
            unheard.gateway.stop()
            unwritten.gateway.stop()
        }
        let words = try await PublicWords(gateway, body)
        var (baseline, listening, silent, rowless) = (Rounds(), Rounds(), Rounds(), Rounds())
        var wording = Rounds()
        for round in 0...rounds {
            let bodies = try (0..<calls).map { _ in try Self.body(sdp: PeerDescriptions.renamed(sdp)) }
            let costs = (
                try await bare.ask(bodies), try await heard.start(bodies), try await unheard.start(bodies),
                try await unwritten.start(bodies), words.nanoseconds(calls: calls)
            )
            // The first round warms up.
            guard round > 0 else { continue }
            baseline.add(Double(costs.0))
            listening.add(Double(costs.1))
            silent.add(Double(costs.2))
            rowless.add(Double(costs.3))
            wording.add(costs.4)
        }
        func line(_ name: String, _ cost: Rounds) -> String {
            let perRequest = cost.scaled(by: 1 / Double(calls) / 1_000)
            return "\(name) \(perRequest.text("µs")), ratio \(cost.ratios(to: baseline).text(digits: 2))"
        }
        print("offer: \(sdp.utf8.count) bytes; body: \(body.readableBytes) bytes")
        print(line("bare route:", baseline))
        print(line("callStart, nobody listens:", silent))
        print(line("callStart, caller and callee are notified:", listening))
        print(line("callStart, caller and callee are notified, no rows of public events:", rowless))
        print(
            String(
                format: "%d public events of a callStart: %.1f µs to put into words", words.count,
                wording.median / 1_000))
    }

    private static func body(sdp: String) throws -> ByteBuffer {
        let request = [
            "callControlRequest": BareRoute.Body.Request(
                type: "callStart", from: "sip:alice@dev.local", to: "sip:bob@dev.local", sdp: sdp)
        ]
        return ByteBuffer(bytes: try JSONEncoder().encode(request))
    }
}

/// The gateway, with Alice and Bob.
private struct CallingGateway {
    let gateway: GatewayUnderTest
    private let client: HTTPClient
    private let sockets: [NotificationSocket?]

    init(_ binary: String, _ store: GatewayStore, calleeListens: Bool, settings: [String] = []) async throws {
        gateway = try await GatewayUnderTest(binary, store: store, settings: settings)
        client = try await HTTPClient(port: gateway.port)
        sockets = [
            try await gateway.register("alice@dev.local", client, listens: calleeListens),
            try await gateway.register("bob@dev.local", client, listens: calleeListens),
        ]
    }

    /// The CPU that these calls took to start, in nanoseconds; they are ended afterwards.
    func start(_ bodies: [ByteBuffer]) async throws -> UInt64 {
        let path = gateway.path("alice@dev.local", "callControl")
        let before = gateway.process.cpuNanoseconds()
        var sessions: [String] = []
        for body in bodies {
            sessions.append(try await client.startCall(path, user: "alice@dev.local", body: body).session)
        }
        // What the last calls caused is still on its way, or held back for registration.session_time.
        try await Task.sleep(for: .milliseconds(500))
        let cost = gateway.process.cpuNanoseconds() - before
        for session in sessions {
            let answer = try await client.request(.DELETE, path + "/callSessions/" + session, user: "alice@dev.local")
            guard answer.status == 200 else {
                throw ValidationError("DELETE: \(answer.status) \(String(buffer: answer.body))")
            }
        }
        try await Task.sleep(for: .milliseconds(100))
        return cost
    }
}

/// The events of one `callStart`, as a gateway has written them down.
private struct PublicWords {
    private let events: [LoggedEvent]
    /// Those who see them: all calls are Alice's to Bob.
    private let holders = GatewayUnderTest.users.prefix(2).compactMap { name in
        UserAddress(parsing: name).map { LegHolder.user($0) }
    }
    /// How many of the events programs are told.
    let count: Int

    /// Starts one call with a gateway of its own.
    init(_ binary: String, _ body: ByteBuffer) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "orbweaver-bench-events-\(UUID())")
        // What is left of a temporary file does no harm.
        defer { try? FileManager.default.removeItem(at: file) }
        let calling = try await CallingGateway(
            binary, .memory, calleeListens: true,
            settings: ["calls.event_log=\(file.path(percentEncoded: false))"])
        do { _ = try await calling.start([body]) } catch {
            calling.gateway.stop()
            throw error
        }
        // The file is complete once the gateway has ended.
        calling.gateway.stop()
        let decoder = JSONDecoder()
        let all = try Data(contentsOf: file).split(separator: UInt8(ascii: "\n")).map { line in
            try decoder.decode(LoggedEvent.self, from: line)
        }
        // The call is ended as well.
        let started = all.prefix { entry in
            if case .released = entry.event.fact { false } else { true }
        }
        events = Array(started)
        let holders = holders
        count = events.count { Publication($0, of: holders) != nil }
        guard count > 0 else { throw ValidationError("the gateway has written down no event of a call") }
    }

    /// CPU for the events of one of so many calls, in nanoseconds.
    func nanoseconds(calls: Int) -> Double {
        var bytes = 0
        let start = ThreadCPUClock.consumed
        for _ in 0..<calls {
            for event in events { bytes += Publication(event, of: holders)?.numbered(1).json.count ?? 0 }
        }
        let spent = ThreadCPUClock.consumed - start
        precondition(bytes > 0, "there are events with words")
        return spent / .nanoseconds(1) / Double(calls)
    }
}

/// `orbweaver-bench bare-route` in a process of its own.
private struct BareServer {
    let process: ChildProcess
    private let client: HTTPClient

    init() async throws {
        let port = try await FreePort.tcp()
        process = try await ChildProcess("/proc/self/exe", ["bare-route", "--port", "\(port)"], port: port)
        client = try await HTTPClient(port: port)
    }

    func ask(_ bodies: [ByteBuffer]) async throws -> UInt64 {
        let before = process.cpuNanoseconds()
        for body in bodies {
            let answer = try await client.request(
                .POST, "/rest/version/1/user/alice@dev.local/callControl", user: "alice@dev.local", body: body)
            guard answer.status == 201 else { throw ValidationError("the bare route answered \(answer.status)") }
        }
        return process.cpuNanoseconds() - before
    }
}

/// The least that a route can do with such a request.
struct BareRoute: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bare-route", abstract: "The baseline of call-start: a Hummingbird route that decodes the body.",
        shouldDisplay: false)

    @Option
    var port: Int

    struct Body: Decodable {
        struct Request: Codable {
            var type: String
            var from: String
            var to: String
            var sdp: String
        }
        var callControlRequest: Request
    }

    func run() async throws {
        let router = Router()
        router.post("/rest/version/1/user/:user/callControl") { request, context -> EditedResponse<String> in
            let body = try await request.decode(as: Body.self, context: context)
            return EditedResponse(
                status: .created, headers: [.contentType: "application/json"],
                response: #"{"callControlResponse":{"statusCode":0,"sessionData":"\#(body.callControlRequest.type)"}}"#)
        }
        let application = Application(router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)))
        try await application.runService()
    }
}
