import CallControl
import EventAPI
import Foundation
import Primitives
import TestSupport
import Testing
import Yams

/// Every event that the gateway can tell programs, against its schema in `openapi/v1.yaml`.
@Suite struct `The contract of events` {
    private static let log = "ab"
    private static let alice = UserAddress(parsing: "alice@example.com")!

    private let document: OpenAPIDocument

    init() throws { document = try OpenAPIDocument("v1.yaml") }

    // MARK: What can be told

    /// The facts of calls: one or more of each, with everything that they can have
    /// (`every fact has a line, under its name` in `CallControlTests`).
    private func facts() throws -> [LoggedEvent] {
        let lines = try Fixtures.text("events/facts.jsonl").split(separator: "\n")
        let written = try lines.map { try JSONDecoder().decode(LoggedEvent.self, from: Data($0.utf8)) }
        // Of these facts some are told under several types, or only where they are about the leg itself.
        let facts: [CallEvent.Fact] =
            MediaProgress.allCases.map { CallEvent.Fact.mediaReached($0) }
            + [.pathLost(of: .caller), .pathRecovered(of: .caller)]
        return written
            + facts.map {
                LoggedEvent(
                    call: CallID(0xAB), sequence: 1, startedAt: 1, elapsed: .zero, event: CallEvent(.caller, $0))
            }
    }

    /// The names of what is no fact of a call. One that is added does not compile without a name, and fails without an
    /// example.
    private enum OtherName: CaseIterable {
        case recording, listEnded, gatheringEnded, pushRegistrationRemoved, webhookAnswerRefused

        init(_ event: OtherEvent) {
            self =
                switch event {
                case .recording: .recording
                case .listEnded: .listEnded
                case .gatheringEnded: .gatheringEnded
                case .pushRegistrationRemoved: .pushRegistrationRemoved
                case .webhookAnswerRefused: .webhookAnswerRefused
                }
        }
    }

    private func others() throws -> [OtherEvent] {
        let name = try #require(ApplicationIdentity("bot#1"))
        let session = SessionID("c1")
        var events: [OtherEvent] = []
        for request in [try RecordRequest(), try RecordRequest(format: .wav, tag: "mine")] {
            let recording = Recording(
                RecordingID(1, of: session), request, of: name, at: Self.alice, in: CallID(7), as: session, time: 1)
            events += [
                .recording(.started, recording, milliseconds: nil), .recording(.paused, recording, milliseconds: 20),
                .recording(.resumed, recording, milliseconds: 20),
            ]
            events += RecordingEnd.allCases.map { end in
                .recording(
                    .stopped, recording.ended(end, milliseconds: 20, bytes: 44, time: 2), milliseconds: nil)
            }
        }
        let place = LegAddress(call: CallID(7), leg: .callee)
        for tag in [nil, "mine"] {
            events += PlayedList.Outcome.allCases.map { outcome in
                .listEnded(PlayedList(number: 1, tag: tag, heard: 1_980, outcome: outcome), of: place)
            }
            events += GatheredKeys.Outcome.allCases.map { outcome in
                .gatheringEnded(GatheredKeys(keys: [.four, .pound], outcome: outcome, tag: tag), of: place)
            }
        }
        return events + [
            .pushRegistrationRemoved(
                user: Self.alice, registration: "r1", provider: "apple", bundleID: "com.example.app", reason: "gone"),
            .webhookAnswerRefused(
                webhook: "w1", session: session, call: CallID(7), code: "call.not_allowed", reason: "It is decided."),
        ]
    }

    /// What is told besides what has happened.
    private var messages: [[UInt8]] {
        let cursor = EventCursor(log: Self.log, number: 7)
        let gaps = [EventSnapshot.Reason.tooOld, .otherLog].map { reason in
            EventSnapshot(
                reason: reason, cursor: cursor, time: 1, calls: [], for: EventSelection(reader: .everything)
            ).json
        }
        return gaps + [cursor.start(at: 1), WebhookSignature.test(named: "test_a1", at: 1)]
    }

    /// Everything, as programs get it.
    private func objects() throws -> [[UInt8]] {
        let trace = try #require(TraceContext("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
        let told = try facts().flatMap { entry in
            [nil, trace].compactMap { Publication(entry, of: [.user(Self.alice)], trace: $0) }
        }
        let other = try others().flatMap { event in
            let traces: [TraceContext?] = event.isOfCall ? [nil, trace] : [nil]
            return traces.map { Publication(EventBody(event, at: 1, trace: $0), of: .user(Self.alice)) }
        }
        return (told + other).map { $0.numbered(7).object(in: Self.log) } + messages
    }

    // MARK: What is described

    private func schema(_ name: String) -> [String: Any]? { document.schemas[name] as? [String: Any] }

    /// The types by the names of their schemas, as `Event` lists them.
    private func described() throws -> [String: String] {
        let options = try #require(schema("Event")?["oneOf"] as? [[String: String]])
        let prefix = "#/components/schemas/"
        let names = options.compactMap { $0["$ref"] }.map { String($0.dropFirst(prefix.count)) }
        return try Dictionary(
            uniqueKeysWithValues: names.map { name in
                let own = try #require(schema(name), "\(name)")
                let parts = [own] + (own["allOf"] as? [[String: Any]] ?? [])
                let types = parts.compactMap { part in
                    ((part["properties"] as? [String: [String: Any]])?["type"])?["const"] as? String
                }
                return (name, try #require(types.first, "\(name) has no type"))
            })
    }

    private func complaints(about object: [UInt8], _ schema: String) throws -> [String] {
        let value = try #require(try Yams.load(yaml: String(decoding: object, as: UTF8.self)))
        return SchemaCheck(document: document).complaints(
            about: value, schema: ["$ref": "#/components/schemas/\(schema)"])
    }

    private func kind(of object: [UInt8]) throws -> String {
        let read = try JSONSerialization.jsonObject(with: Data(object)) as? [String: Any]
        return try #require(read?["type"] as? String)
    }

    // MARK: Tests

    @Test func `every event fits the schema of its type, and no other`() throws {
        let names = Dictionary(uniqueKeysWithValues: try described().map { ($0.value, $0.key) })
        for object in try objects() {
            let text = String(decoding: object, as: UTF8.self)
            let type = try kind(of: object)
            guard let name = names[type] else {
                Issue.record("\(type) has no schema")
                continue
            }
            let own = try complaints(about: object, name)
            #expect(own.isEmpty, "\(text): \(own)")
            #expect(try complaints(about: object, "Event").isEmpty, "\(text)")
        }
    }

    @Test func `every type that is described is told, and stands in the document`() throws {
        let described = try described()
        #expect(Set(described.values) == Set(try objects().map { try kind(of: $0) }))
        let mapping = (schema("Event")?["discriminator"] as? [String: Any])?["mapping"] as? [String: String]
        let expected = described.map { ($0.value, "#/components/schemas/\($0.key)") }
        #expect(mapping == Dictionary(uniqueKeysWithValues: expected))
        let file = Fixtures.root.deletingLastPathComponent().appending(path: "docs/call-events.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        for type in described.values where type != "webhook.test" {
            #expect(text.contains("`\(type)`"), "docs/call-events.md: \(type)")
        }
    }

    @Test func `what is no fact of a call has an example of each`() throws {
        #expect(Set(try others().map { OtherName($0) }) == Set(OtherName.allCases))
    }

    @Test func `words are those of the code`() {
        let causes = schema("EventCause")?["enum"] as? [String]
        #expect(causes == EndingWord.allCases.map(\.rawValue))
    }

    @Test(arguments: [
        #"{"id":"ab-7","version":1,"type":"leg.held","time":1,"call":"7","sequence":1,"leg":0,"data":{"x":1}}"#,
        #"{"id":"ab-7","version":1,"type":"leg.held","time":1,"call":"7","sequence":1,"data":{}}"#,
        #"{"id":"ab-7","version":1,"type":"leg.sang","time":1,"call":"7","sequence":1,"leg":0,"data":{}}"#,
        #"{"id":"ab-7","version":1,"type":"call.ended","time":1,"call":"7","sequence":1,"data":{}}"#,
        #"{"id":"7","version":1,"type":"leg.held","time":1,"call":"7","sequence":1,"leg":0,"data":{}}"#,
    ])
    func `what is no event fits nothing`(_ text: String) throws {
        #expect(try !complaints(about: Array(text.utf8), "Event").isEmpty)
    }
}

extension OtherEvent {
    /// Whether it is about a call, which may be part of a trace.
    fileprivate var isOfCall: Bool {
        switch self {
        case .recording, .listEnded, .gatheringEnded, .webhookAnswerRefused: true
        case .pushRegistrationRemoved: false
        }
    }
}
