import CallControl
import Foundation
import FuzzTargets
import GatewayAPI
import Registration
import SPiDR
import TestSupport
import Testing

@Suite struct `Requests` {
    @Test(
        arguments: [
            (#"{"service":["call"]}"#, SubscriptionRequest(services: ["call"])),
            (#"{"service":["call"],"expires":60}"#, SubscriptionRequest(expires: .seconds(60), services: ["call"])),
            (
                #"{"service":["Call","IM"],"expires":"7200"}"#,
                SubscriptionRequest(expires: .seconds(7200), services: ["Call", "IM"])
            ),
            (#"{"service":["call"],"forceLogOut":true}"#, SubscriptionRequest(services: ["call"], forceLogOut: true)),
            (#"{"service":["call"],"forceLogOut":"True"}"#, SubscriptionRequest(services: ["call"], forceLogOut: true)),
            (#"{"service":["call"],"forceLogOut":"false","expires":null}"#, SubscriptionRequest(services: ["call"])),
            (
                #"{"service":["call"],"supported":["x","ringingfeedback"]}"#,
                SubscriptionRequest(services: ["call"], sendsRingingFeedback: true)
            ),
            (
                #"{"service":[],"clientCorrelator":"device-7","localization":7}"#,
                SubscriptionRequest(services: [], clientCorrelator: "device-7")
            ),
        ] as [(String, SubscriptionRequest)])
    func `a subscription is read in every form clients write`(_ text: String, _ wanted: SubscriptionRequest) throws {
        let body = Data(#"{"subscribeRequest":\#(text),"other":1}"#.utf8)
        #expect(try WireJSON.decode(SubscribeRequest.self, from: body).subscriptionRequest() == wanted)
    }

    @Test(arguments: [
        ("", ErrorCode.requestBodyMissing, "callControlRequest"),
        ("{", .requestMalformedJSON, "JSON"),
        ("null", .requestMissingField, ""),
        ("{}", .requestMissingField, "callControlRequest"),
        (#"{"callControlRequest":{}}"#, .requestMissingField, "callControlRequest.type"),
        (#"{"callControlRequest":{"type":null}}"#, .requestMissingField, "callControlRequest.type"),
        (
            #"{"callControlRequest":{"type":"audit","supported":["a",7]}}"#, .requestInvalidValue,
            "callControlRequest.supported"
        ),
        (
            #"{"callControlRequest":{"type":"audit","customParameters":[{"name":"a"}]}}"#, .requestMissingField,
            "customParameters"
        ),
        (String(repeating: "[", count: 100_000), .requestMalformedJSON, "JSON"),
    ])
    func `what cannot be read is named`(_ text: String, _ code: ErrorCode, _ mention: String) {
        do {
            _ = try WireJSON.decode(CallControlRequest.self, from: Data(text.utf8))
            Issue.record("this cannot be read")
        } catch {
            #expect(error.code == code)
            #expect(mention.isEmpty || error.reason.contains(mention), "\(error.reason)")
        }
    }

    @Test(
        arguments: [
            ("sip:Ann@Example.COM;user=phone", "Joe Doe <sip:joe@example.com>", "ann@example.com", "Joe Doe"),
            ("ann@example.com", "sip:joe@example.com", "ann@example.com", nil),
            ("+15550100", nil, "+15550100@here.test", nil),
            ("ann@example.com", "nonsense <", "ann@example.com", nil),
        ] as [(String, String?, String, String?)])
    func `a call start names the callee and the caller's name`(
        _ to: String, _ from: String?, _ callee: String, _ name: String?
    ) throws {
        let request = CallControlRequest(type: "callStart", from: from, to: to, sdp: "v=0\r\n")
        let start = try request.creation(defaultDomain: "here.test")
        let wanted = CallStartRequest(
            callerName: name, callee: try #require(UserAddress(parsing: callee)), sdp: "v=0\r\n")
        #expect(start == .start(wanted))
    }

    private func candidates(_ candidates: [[String: String]]) throws -> CallControlRequest {
        let body = ["callControlRequest": ["type": "updateIceCandidate", "iceCandidates": candidates] as [String: Any]]
        return try WireJSON.decode(CallControlRequest.self, from: JSONSerialization.data(withJSONObject: body))
    }

    @Test(arguments: [("candidate", 1_024), ("sdpMid", 256), ("usernameFragment", 256)])
    func `a candidate is as long as one can be`(_ field: String, _ limit: Int) throws {
        for count in [limit, limit + 1] {
            let request = try candidates([
                ["candidate": ""].merging([field: String(repeating: "\t", count: count)]) { $1 }
            ])
            if count == limit {
                _ = try request.operation(on: SessionID("A1"), defaultDomain: "here.test")
            } else {
                #expect(
                    throws: APIError(
                        .requestInvalidValue,
                        "The field \"callControlRequest.iceCandidates.0.\(field)\" has more than \(limit) bytes.")
                ) {
                    try request.operation(on: SessionID("A1"), defaultDomain: "here.test")
                }
            }
        }
    }

    /// 1 MiB may wait for a reader.
    @Test func `the longest candidates that one request can carry fit where notifications wait`() throws {
        let longest = ["candidate": String(repeating: "\u{1}", count: 1_024)]
        guard
            case .command(_, .candidates(let lines)) = try candidates(Array(repeating: longest, count: 64)).operation(
                on: SessionID("A1"), defaultDomain: "here.test")
        else {
            Issue.record("these are candidates")
            return
        }
        #expect(throws: APIError(.requestInvalidValue, "The candidates of one request can have 65536 bytes together."))
        {
            try candidates(Array(repeating: longest, count: 65)).operation(
                on: SessionID("A1"), defaultDomain: "here.test")
        }
        var notification = SPiDR.Notification(.iceCandidate, session: SessionID("B1"))
        notification.candidates = lines
        // With as much text as any other notification can have: a description, parameters and bodies, and two names.
        notification.sdp = String(repeating: "\u{1}", count: 65_536)
        notification.customParameters = [
            CustomParameter(
                name: String(repeating: "\u{1}", count: CallControlRequest.maximumParameterBytes), value: "")
        ]
        notification.customBodies = [
            CustomBody(contentType: "a/b", body: String(repeating: "\u{1}", count: CallControlRequest.maximumBodyBytes))
        ]
        let frame = NotificationFrame(
            eventID: 1, time: 1, user: try #require(UserAddress(parsing: "ann@example.com")), channel: ChannelID("ws"),
            notice: .gone)
        #expect(WireJSON.encode(wrapping: NotificationMessage(notification, in: frame)).count < 1 << 20)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `random changes to a body are refused or understood, and never trap`(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededRandomSource(seed: seed)
        let files = Fixtures.files(in: "api/requests")
        #expect(!files.isEmpty)
        for file in files {
            for _ in 0..<200 {
                var bytes = try Fixtures.bytes(file)
                for _ in 0...(random.next() % 4) {
                    bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
                }
                fuzzGatewayRequest(bytes.span)
            }
        }
    }
}
