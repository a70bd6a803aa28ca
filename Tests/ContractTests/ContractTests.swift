import CallControl
import Foundation
import GatewayAPI
import HTTPTypes
import Push
import SPiDR
import SignalingServer
import TestSupport
import Testing
import Yams

@Suite struct `The contract` {
    private let document: OpenAPIDocument
    private let check: SchemaCheck

    init() throws {
        document = try OpenAPIDocument()
        check = SchemaCheck(document: document)
    }

    // MARK: Paths

    @Test func `every route is described, and every description is a route`() {
        var served = Dictionary(
            uniqueKeysWithValues: Endpoint.allCases.map { endpoint in
                (OpenAPIDocument.path(of: endpoint), Set(endpoint.methods.map { $0.rawValue.lowercased() }))
            })
        for service in AbsentService.allCases {
            served[OpenAPIDocument.path(of: service)] = Set(service.methods.map { $0.rawValue.lowercased() })
        }
        let described = document.paths.mapValues { Set($0.keys).intersection(OpenAPIDocument.methods) }
        #expect(served == described)
    }

    // MARK: Error codes

    @Test func `code, document and description list the same errors`() throws {
        let codes = ErrorCode.allCases.map(\.rawValue)
        #expect((document.schemas["ErrorCode"] as? OpenAPIDocument.Object)?["enum"] as? [String] == codes)

        let file = Fixtures.root.deletingLastPathComponent().appending(path: "docs/errors.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        // The last section is that of another interface; see V1ContractTests.
        let own = text.range(of: "## The `/v1` interface").map { text[..<$0.lowerBound] } ?? text[...]
        let rows = own.split(separator: "\n").filter { $0.hasPrefix("| `") }
        let wanted = ErrorCode.allCases.map { "| `\($0.rawValue)` | \($0.httpStatus) | \($0.statusCode) |" }
        #expect(rows.count == wanted.count)
        for row in wanted { #expect(rows.contains { $0.hasPrefix(row) }, "\(row)") }
    }

    // MARK: Words of ours

    @Test func `the description knows every state, side and event there is`() throws {
        func words(_ path: String...) throws -> [String] {
            var node: Any? = document.schemas
            for part in path { node = (node as? OpenAPIDocument.Object)?[part] }
            return try #require((node as? OpenAPIDocument.Object)?["enum"] as? [String], "\(path)")
        }
        #expect(try words("CallState") == LegState.allCases.map(\.word))
        #expect(try words("CallSide") == CallSide.allCases.map(\.word))
        #expect(try words("Timeline", "items", "properties", "event") == TimelineEntry.Event.allCases.map(\.word))
        #expect(try words("LogItem", "properties", "direction") == CallLogRecord.Direction.allCases.map(\.word))
        #expect(
            try words("CallSession", "properties", "legs", "items", "properties", "mediaPath")
                == MediaPathState.allCases.map(\.word))
    }

    // MARK: Examples

    @Test(arguments: Fixtures.files(in: "api/requests"))
    func `a request is read, written again the same, and described`(_ file: String) throws {
        let bytes = try Data(Fixtures.bytes(file))
        let (wrapper, json) = try object(bytes)
        #expect(complaints(wrapper, json).isEmpty, "\(complaints(wrapper, json))")
        switch wrapper {
        case SubscribeRequest.wrapper: try expectRoundTrip(SubscribeRequest.self, bytes)
        case CallControlRequest.wrapper: try expectRoundTrip(CallControlRequest.self, bytes)
        case CallMeRequest.wrapper: try expectRoundTrip(CallMeRequest.self, bytes)
        case CallDispositionRequest.wrapper: try expectRoundTrip(CallDispositionRequest.self, bytes)
        case MediaRequest.wrapper: try expectRoundTrip(MediaRequest.self, bytes)
        case InstantMessageRequest.wrapper: try expectRoundTrip(InstantMessageRequest.self, bytes)
        case PresenceRequest.wrapper: try expectRoundTrip(PresenceRequest.self, bytes)
        case PresenceWatcherRequest.wrapper: try expectRoundTrip(PresenceWatcherRequest.self, bytes)
        case EventSubscriptionRequest.wrapper: try expectRoundTrip(EventSubscriptionRequest.self, bytes)
        case ClickToCallRequest.wrapper: try expectRoundTrip(ClickToCallRequest.self, bytes)
        case RouteRequest.wrapper: try expectRoundTrip(RouteRequest.self, bytes)
        case AddressBookRequest.wrapper: try expectRoundTrip(AddressBookRequest.self, bytes)
        case let wrapper where PushDeviceRequest.acceptedWrappers.contains(wrapper):
            try expectRoundTrip(PushDeviceRequest.self, bytes)
        default: Issue.record("\(file) holds no known request")
        }
    }

    @Test(arguments: Fixtures.files(in: "api/answers") + Fixtures.files(in: "api/notifications"))
    func `what the gateway writes is written exactly so, and described`(_ file: String) throws {
        let bytes = try Data(Fixtures.bytes(file))
        let (wrapper, json) = try object(bytes)
        let schema =
            file.hasSuffix("unsubscribe.json")
            ? "unsubscribeResponse"
            : file.hasSuffix("push-devices.json")
                ? "appleDeviceList" : file.hasSuffix("call-sessions.json") ? "callSessionsResponse" : wrapper
        #expect(complaints(schema, json).isEmpty, "\(complaints(schema, json))")
        switch schema {
        case "subscribeResponse": try expectExact(SubscribeResponse.self, bytes)
        case "unsubscribeResponse": try expectExact(UnsubscribeResponse.self, bytes)
        case "callControlResponse": try expectExact(CallControlResponse.self, bytes)
        case "callMeResponse": try expectExact(CallMeResponse.self, bytes)
        case "callSessionsResponse": try expectExact(CallSessionsResponse.self, bytes)
        case "logHistory": try expectExact(LogHistoryResponse.self, bytes)
        case "logRecord": try expectExact(LogRecordResponse.self, bytes)
        case "ctcResponse": try expectExact(ClickToCallResponse.self, bytes)
        case "routeResponse": try expectExact(RouteResponse.self, bytes)
        case "addressBookResponse": try expectExact(AddressBookResponse.self, bytes)
        case "callDispositionResponse": try expectExact(CallDispositionResponse.self, bytes)
        case "mediaResponse": try expectExact(MediaResponse.self, bytes)
        case "imResponse": try expectExact(InstantMessageResponse.self, bytes)
        case "presenceResponse": try expectExact(PresenceResponse.self, bytes)
        case "presenceWatcherResponse": try expectExact(PresenceWatcherResponse.self, bytes)
        case "mwiresponse": try expectExact(VoicemailResponse.self, bytes)
        case "eventSubscriptionResponse": try expectExact(EventSubscriptionResponse.self, bytes)
        case "appleDeviceList", PushDeviceResponse.wrapper(.apple):
            #expect(try same(WireJSON.encode(try JSONDecoder().decode(PushDeviceResponse.self, from: bytes)), bytes))
        case "statisticsResponse": try expectExact(StatisticsResponse.self, bytes)
        case "notificationMessage": try expectExact(NotificationMessage.self, bytes)
        default: Issue.record("\(file) holds nothing the gateway writes")
        }
    }

    @Test(arguments: Fixtures.files(in: "api/errors"))
    func `an error is written exactly so, and described`(_ file: String) throws {
        let bytes = try Data(Fixtures.bytes(file))
        let body = try JSONDecoder().decode(ErrorBody.self, from: bytes)
        #expect(try same(WireJSON.encode(body), bytes))
        #expect(ErrorCode(rawValue: body.refusal.code)?.statusCode == body.refusal.statusCode)
        let schema =
            switch body.wrapper {
            case .subscribe: "SubscribeError"
            case .callControl: "CallControlError"
            case .callMe: "CallMeError"
            case .callDisposition: "CallDispositionError"
            case .media: "MediaError"
            case .statistics: "StatisticsError"
            case .logHistory: "LogHistoryError"
            case .logRecord: "LogRecordError"
            case .authorization: "AuthorizationError"
            case .directory: "DirectoryError"
            case .userProfile: "UserProfileError"
            case .authenticationToken: "AuthenticationTokenError"
            case .instantMessage: "ImError"
            case .presence: "PresenceError"
            case .presenceWatcher: "PresenceWatcherError"
            case .voicemail: "MwiError"
            case .eventSubscription: "EventSubscriptionError"
            case .addressBook: "AddressBookError"
            case .clickToCall: "ClickToCallError"
            case .routeList: "RouteListError"
            case .imrn: "ServiceError"
            case .none: "PlainError"
            }
        let complaints = check.complaints(
            about: try #require(try Yams.load(yaml: String(decoding: bytes, as: UTF8.self))),
            schema: document.schemas[schema])
        #expect(complaints.isEmpty, "\(complaints)")
    }

    @Test(arguments: Fixtures.files(in: "api/problems"))
    func `a problem is written exactly so, and described`(_ file: String) throws {
        let bytes = try Data(Fixtures.bytes(file))
        let problem = try JSONDecoder().decode(ProblemBody.self, from: bytes)
        #expect(try same(WireJSON.encode(problem), bytes))
        let error = APIError(try #require(ErrorCode(rawValue: problem.code)), problem.detail)
        #expect(try same(error.encoded(in: .problem), bytes))
        let complaints = check.complaints(
            about: try #require(try Yams.load(yaml: String(decoding: bytes, as: UTF8.self))),
            schema: document.schemas["Problem"])
        #expect(complaints.isEmpty, "\(complaints)")
    }

    @Test func `the description's own examples fit it`() throws {
        let examples =
            (document.root["components"] as? OpenAPIDocument.Object)?["examples"] as? [String: OpenAPIDocument.Object]
            ?? [:]
        #expect(!examples.isEmpty)
        for (name, example) in examples {
            let value = try #require(example["value"] as? [String: Any])
            let wrapper = try #require(value.keys.first)
            #expect(complaints(wrapper, value).isEmpty, "\(name): \(complaints(wrapper, value))")
        }
    }

    @Test(arguments: [
        #"{"subscribeRequest":{}}"#, #"{"subscribeRequest":{"service":"call"}}"#,
        #"{"subscribeRequest":{"service":["call"],"expires":0}}"#,
        #"{"subscribeRequest":{"service":["call"],"expires":"007"}}"#,
        #"{"subscribeRequest":{"service":["call"],"forceLogOut":1}}"#,
        #"{"callControlRequest":{"type":"callAnswer"}}"#, #"{"callControlRequest":{"type":"dance"}}"#,
        #"{"callControlRequest":[]}"#,
        #"{"callControlRequest":{"type":"callAnswer","sdp":"v","mediaPreferences":{"codecs":["opus"]}}}"#,
        #"{"callControlRequest":{"type":"callAnswer","sdp":"v","mediaPreferences":{"payloadNumbers":[{"codec":"opus/48000/2","number":95}]}}}"#,
        #"{"callControlRequest":{"type":"callAnswer","sdp":"v","mediaPreferences":{"opus":{"set":"phone"}}}}"#,
        #"{"callDispositionRequest":{"action":"ignore","sessionData":"B1"}}"#,
        #"{"callDispositionRequest":{"action":"reject"}}"#,
    ])
    func `what the gateway refuses, the description refuses too`(_ text: String) throws {
        let (wrapper, json) = try object(Data(text.utf8))
        #expect(!complaints(wrapper, json).isEmpty)
        #expect(throws: APIError.self) {
            do {
                switch wrapper {
                case SubscribeRequest.wrapper:
                    _ = try WireJSON.decode(SubscribeRequest.self, from: Data(text.utf8)).subscriptionRequest()
                case CallControlRequest.wrapper:
                    let body = try WireJSON.decode(CallControlRequest.self, from: Data(text.utf8))
                    _ = try ClientRequest.operation(body, on: SessionID("A1")).meaning(defaultDomain: "example.com")
                default:
                    let body = try WireJSON.decode(CallDispositionRequest.self, from: Data(text.utf8))
                    _ = try ClientRequest.disposition(body).meaning(defaultDomain: "example.com")
                }
            } catch let fault as RequestFault {
                throw APIError(fault)
            }
        }
    }

    // MARK: - Comparisons

    private func object(_ bytes: Data) throws -> (wrapper: String, json: [String: Any]) {
        let json = try #require(try Yams.load(yaml: String(decoding: bytes, as: UTF8.self)) as? [String: Any])
        #expect(json.count == 1)
        return (try #require(json.keys.first), json)
    }

    /// The schema of `fooRequest` is called `FooRequestEnvelope`.
    private func complaints(_ wrapper: String, _ json: [String: Any]) -> [String] {
        check.complaints(
            about: json, schema: document.schemas[wrapper.prefix(1).uppercased() + wrapper.dropFirst() + "Envelope"])
    }

    private func expectRoundTrip<Content: WireObject & Equatable>(_ type: Content.Type, _ bytes: Data)
        throws
    {
        let content = try WireJSON.decode(type, from: bytes)
        #expect(try WireJSON.decode(type, from: Data(WireJSON.encode(wrapping: content))) == content)
    }

    private func expectExact<Content: WireObject>(_ type: Content.Type, _ bytes: Data) throws {
        #expect(try same(WireJSON.encode(wrapping: try WireJSON.decode(type, from: bytes)), bytes))
    }

    private func same(_ a: [UInt8], _ b: Data) throws -> Bool {
        let options: JSONSerialization.WritingOptions = [.sortedKeys]
        return try JSONSerialization.data(withJSONObject: JSONSerialization.jsonObject(with: Data(a)), options: options)
            == JSONSerialization.data(withJSONObject: JSONSerialization.jsonObject(with: b), options: options)
    }
}
