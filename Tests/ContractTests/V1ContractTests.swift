import ApplicationServer
import AudioStreams
import CallControl
import CallRuntime
import EventServer
import Foundation
import GatewayAPI
import HTTPTypes
import Primitives
import TestSupport
import Testing
import Yams

/// `openapi/v1.yaml` against what serves it.
@Suite struct `The contract of v1` {
    private let document: OpenAPIDocument

    init() throws { document = try OpenAPIDocument("v1.yaml") }

    private var operations: [(path: String, method: String, operation: [String: Any])] {
        document.paths.flatMap { path, item in
            item.compactMap { method, operation in
                (operation as? [String: Any]).map { (path, method, $0) }
            }
        }
    }

    @Test func `every operation is described with its scope, and nothing else`() {
        let described = operations.filter { $0.path != EventResponder.path }.map { each in
            let (name, scope) = (each.operation["operationId"] ?? "-", each.operation["x-scope"] ?? "-")
            return "\(name) \(each.method.uppercased()) \(each.path) \(scope)"
        }
        let served = V1Operation.allCases.map {
            "\($0.name) \($0.method.rawValue) \($0.template) \($0.scope.rawValue)"
        }
        #expect(described.sorted() == served.sorted())
    }

    @Test func `the parameters of queries are those that are read`() {
        for each in operations {
            let parameters = (each.operation["parameters"] as? [Any] ?? []).compactMap { document.resolve($0) }
            let names = Set(
                parameters.filter { $0["in"] as? String == "query" }.compactMap { $0["name"] as? String })
            let served = V1Operation.allCases.first { $0.name == each.operation["operationId"] as? String }
            let read = each.path == EventResponder.path ? EventResponder.parameters : served?.parameters
            #expect(names == read, "\(each.path)")
        }
    }

    @Test func `code, document and description list the same errors`() throws {
        let schema = document.schemas["V1ErrorCode"] as? [String: Any]
        #expect(schema?["enum"] as? [String] == V1ErrorCode.allCases.map(\.rawValue))
        let file = Fixtures.root.deletingLastPathComponent().appending(path: "docs/errors.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        let section = try #require(text.range(of: "## The `/v1` interface").map { text[$0.upperBound...] })
        let rows = section.split(separator: "\n")
        for code in V1ErrorCode.allCases {
            #expect(rows.contains { $0.hasPrefix("| `\(code.rawValue)` | \(code.httpStatus) |") }, "\(code.rawValue)")
        }
    }

    @Test func `words are those of the code`() {
        func words(_ name: String) -> [String]? { (document.schemas[name] as? [String: Any])?["enum"] as? [String] }
        #expect(words("CallState") == ApplicationCallPhase.allCases.map(\.rawValue))
        #expect(words("CommandName") == ApplicationCommand.Name.allCases.map(\.rawValue) + [V1Call.streamCommand])
        #expect(words("RecordingState") == Recording.State.allCases.map(\.rawValue))
        #expect(words("RecordingEnd") == RecordingEnd.allCases.map(\.rawValue))
    }

    // MARK: Bodies

    /// Calls of which there is one, which takes every command.
    private struct OneCall: ApplicationCalls {
        let call: ApplicationCall

        func setApplications(_ applications: [RegisteredApplication]) async {}
        func start(
            _ request: ApplicationCallRequest, streaming order: StreamOrder?, by application: ApplicationIdentity
        ) async throws(ApplicationRefusal) -> ApplicationCall { call }
        func stream(
            _ request: StreamRequest, in id: SessionID, by application: ApplicationIdentity, expecting version: UInt64?
        ) async throws(ApplicationRefusal) -> ApplicationCall {
            if version == 1 { throw .versionMismatch(call) }
            return call
        }
        func call(
            _ id: SessionID, of application: ApplicationIdentity
        ) async throws(ApplicationRefusal) -> ApplicationCall { call }
        func calls(
            of application: ApplicationIdentity, _ filter: ApplicationCallFilter, after place: ApplicationCallPlace?,
            limit: Int
        ) async -> [ApplicationCall] { [call, call] }
        func open(
            _ link: StreamLink, _ terms: StreamTerms, in id: SessionID, by application: ApplicationIdentity
        ) async throws(ApplicationRefusal) -> StreamID { StreamID(1) }
        func closed(
            _ stream: StreamID, in id: SessionID, by application: ApplicationIdentity, because loss: StreamLoss
        ) async {}
        func perform(
            _ command: ApplicationCommand, in id: SessionID, by application: ApplicationIdentity,
            expecting version: UInt64?, tracing trace: TraceContext?
        ) async throws(ApplicationRefusal) -> ApplicationCall {
            if version == 1 { throw .versionMismatch(call) }
            return call
        }
        func decide(
            by command: ApplicationCommand, in id: SessionID, of application: ApplicationIdentity
        ) async throws(ApplicationRefusal) -> ApplicationCall { call }
    }

    /// Keeps nothing.
    private struct NoRequests: IdempotencyRepository {
        func reserve(
            key: [UInt8], fingerprint: [UInt8], process: String, of application: ApplicationIdentity?, at now: Int64,
            age: Duration, limit: Int
        ) async throws(StorageError) -> KeyReservation { .reserved }
        func keep(_ answer: KeptAnswer?, for key: [UInt8]) async throws(StorageError) {}
    }

    private struct NoClock: RuntimeClock {
        var now: MonotonicTime { MonotonicTime(nanoseconds: 0) }
        var epochMilliseconds: Int64 { 0 }
        func sleep(until time: MonotonicTime) async throws(CancellationError) {}
    }

    private static let name = ApplicationIdentity("bot#1")!
    private static let alice = UserAddress(parsing: "alice@example.com")!

    private static let keptRecording = Recording(
        RecordingID(1, of: SessionID("c1")), try! RecordRequest(tag: "mine"), of: name, at: alice, in: CallID(7),
        as: SessionID("c1"), time: 1)

    /// A recording of which there is one, in each state.
    private struct OneRecording: Recordings {
        var areProvided: Bool { true }
        func open(_ recording: Recording) async throws(RecordingFault) {}
        func discard(_ id: RecordingID) async {}
        func recordings(
            of application: ApplicationIdentity, _ filter: RecordingFilter, after place: RecordingPlace?, limit: Int
        ) async throws(RecordingFault) -> [Recording] {
            [keptRecording]
                + RecordingEnd.allCases.map {
                    keptRecording.ended($0, milliseconds: 20, bytes: 44, time: 2)
                }
        }
        func recording(
            _ id: RecordingID, of application: ApplicationIdentity
        ) async throws(RecordingFault) -> Recording { keptRecording }
        func audio(
            of id: RecordingID, of application: ApplicationIdentity
        ) async throws(RecordingFault) -> (recording: Recording, file: any RecordedFile) { throw .notEnded }
        func remove(
            _ id: RecordingID, of application: ApplicationIdentity
        ) async throws(RecordingFault) -> Recording { keptRecording }
    }

    /// A call with everything that one can have.
    private static func call(_ state: ApplicationCall.State) -> ApplicationCall {
        ApplicationCall(
            id: SessionID("c1"), call: CallID(7), application: name, direction: .outgoing, from: alice,
            fromName: "Bot", to: alice, state: state, version: 3, startedAt: 1, answeredAt: 2, decideBy: 5,
            parameters: [CustomParameter(name: "a", value: "b")], context: "mine", isMuted: true,
            playing: .init(tag: "t", waiting: 1),
            played: PlayedList(number: 1, tag: "t", heard: 20, outcome: .completed),
            gathering: .init(tag: nil, keys: [.one, .pound]),
            recordings: Recording.State.allCases.map { .init(id: keptRecording.id, tag: "t", state: $0) },
            stream: .waiting,
            members: LegState.allCases.map {
                .init(address: alice.text, name: "Alice", isCalled: true, state: $0, holds: false)
            })
    }

    private func ask(
        _ operation: V1Operation, _ body: [UInt8] = [], of call: ApplicationCall = Self.call(.talking),
        match: String? = nil
    ) async -> (status: Int, json: Any?) {
        let responder = CallResponder(
            OneCall(call: call), recordings: OneRecording(), requests: NoRequests(), journal: VolatileJournal(),
            clock: NoClock(), process: "p", keys: 100)
        var headers = HTTPFields()
        headers[.ifMatch] = match
        let answer = await responder.answer(
            V1Request(
                method: operation.method, path: operation.template.replacing("{id}", with: "c1"), headers: headers,
                principal: .application(
                    Self.name, scopes: Set(ApplicationScope.allCases), addresses: [ApplicationAddress(Self.alice)]),
                body: { () async throws(V1Error) in body }))
        guard case .bytes(let bytes) = answer.body else { return (answer.status, nil) }
        return (answer.status, try? Yams.load(yaml: String(decoding: bytes, as: UTF8.self)))
    }

    private func complaints(_ schema: String, _ value: Any?) -> [String] {
        guard let value else { return ["there is nothing"] }
        return SchemaCheck(document: document).complaints(
            about: value, schema: ["$ref": "#/components/schemas/\(schema)"])
    }

    @Test func `the examples of bodies fit their schemas, and are read`() async throws {
        var count = 0
        for each in operations {
            guard let content = (each.operation["requestBody"] as? [String: Any])?["content"] as? [String: Any],
                let json = content["application/json"] as? [String: Any],
                let schema = json["schema"] as? [String: Any]
            else { continue }
            let operation = try #require(
                V1Operation.allCases.first { $0.name == each.operation["operationId"] as? String })
            for (_, example) in json["examples"] as? [String: [String: Any]] ?? [:] {
                let value = try #require(example["value"])
                let wrong = SchemaCheck(document: document).complaints(about: value, schema: schema)
                #expect(wrong.isEmpty, "\(each.path): \(wrong)")
                let bytes = try JSONSerialization.data(withJSONObject: value)
                let answer = await ask(operation, Array(bytes))
                #expect((200...201).contains(answer.status), "\(each.path): \(answer)")
                count += 1
            }
        }
        #expect(count >= 10)
    }

    @Test func `the examples of answers of webhooks fit their schema, and are read`() async throws {
        let webhooks = try #require(document.root["webhooks"] as? [String: [String: [String: Any]]])
        let responses = try #require(webhooks["event"]?["post"]?["responses"] as? [String: [String: Any]])
        let content = try #require(responses["2XX"]?["content"] as? [String: [String: Any]])
        let examples = try #require(content["application/json"]?["examples"] as? [String: [String: Any]])
        let responder = WebhookResponder(OneCall(call: Self.call(.ringing)), journal: VolatileJournal()) { _ in
            Set(ApplicationScope.allCases)
        }
        for (name, example) in examples {
            let value = try #require(example["value"])
            #expect(complaints("WebhookAnswer", value).isEmpty, "\(name): \(complaints("WebhookAnswer", value))")
            let answer = try JSONSerialization.data(withJSONObject: value)
            #expect(try await responder.decide(by: Array(answer), in: SessionID("c1"), of: Self.name), "\(name)")
        }
        let words = (document.schemas["WebhookAnswer"] as? [String: Any])?["properties"] as? [String: [String: Any]]
        let names = ApplicationCommand.Name.allCases.filter { ApplicationCallPhase.ringing.allows($0, .incoming) }
        #expect(words?["command"]?["enum"] as? [String] == names.map(\.rawValue))
        #expect(Set(examples.keys) == Set(names.map(\.rawValue)))
    }

    @Test func `answers are as they are described, in every state`() async throws {
        let states: [ApplicationCall.State] = [
            .ringing, .progressing, .talking, .held, .ended(nil), .ended(.rejected(reasonText: nil)),
        ]
        for state in states {
            let shown = await ask(.showCall, of: Self.call(state))
            #expect(complaints("Call", shown.json).isEmpty, "\(complaints("Call", shown.json))")
        }
        let page = await ask(.listCalls)
        #expect(complaints("CallPage", page.json).isEmpty, "\(complaints("CallPage", page.json))")
        let recordings = await ask(.listRecordings)
        #expect(complaints("RecordingPage", recordings.json).isEmpty, "\(complaints("RecordingPage", recordings.json))")
        for operation in [V1Operation.showRecording, .removeRecording] {
            let shown = await ask(operation)
            #expect(complaints("Recording", shown.json).isEmpty, "\(complaints("Recording", shown.json))")
        }
        let going = await ask(.fetchRecording)
        #expect(going.status == 409)
        #expect(complaints("Problem", going.json).isEmpty, "\(complaints("Problem", going.json))")
        let late = await ask(.command(.end), match: "\"1\"")
        #expect(late.status == 412)
        #expect(complaints("Problem", late.json).isEmpty, "\(complaints("Problem", late.json))")
        let wrong = await ask(.command(.transfer))
        #expect(wrong.status == 400)
        #expect(complaints("Problem", wrong.json).isEmpty, "\(complaints("Problem", wrong.json))")
    }

    @Test func `the examples of answers fit their schemas`() throws {
        let examples = (document.root["components"] as? [String: Any])?["examples"] as? [String: [String: Any]]
        for (name, example) in try #require(examples) {
            #expect(complaints(name, example["value"]).isEmpty, "\(complaints(name, example["value"]))")
        }
    }
}
