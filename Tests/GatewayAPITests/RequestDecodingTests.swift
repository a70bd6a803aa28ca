import CallControl
import Foundation
import FuzzTargets
import GatewayAPI
import Registration
import SPiDR
import TestSupport
import Testing

@Suite struct `Requests` {
    private static func content(_ fields: String) -> String {
        #"{"callControlRequest":{"type":"startCallUpdate",\#(fields)}}"#
    }
    private static func preferences(_ text: String) -> String {
        #"{"callControlRequest":{"type":"callStart","to":"ann","sdp":"v=0","mediaPreferences":\#(text)}}"#
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
        (content(#""customBodies":[{"contentType":"a/b"}]"#), .requestMissingField, "body"),
        (content(#""customBodies":[{"body":"x"}]"#), .requestMissingField, "contentType"),
        (
            preferences(#"{"audioCodec":["opus"]}"#), .requestInvalidValue,
            "audioCodec\" cannot be used: there is no such field; there are audioCodecs, videoCodecs"
        ),
        (
            preferences(#"{"opus":{"bitrate":1}}"#), .requestInvalidValue,
            "opus.bitrate\" cannot be used: there is no such field"
        ),
        (
            preferences(#"{"audioCodecs":"opus"}"#), .requestInvalidValue,
            "mediaPreferences.audioCodecs\" has the wrong type"
        ),
        (
            preferences(#"{"payloadNumbers":[{"codec":"opus/48000/2"}]}"#), .requestMissingField,
            "number\" is missing"
        ),
        (
            preferences(#"{"videoReceiveBandwidth":"fast"}"#), .requestInvalidValue,
            "videoReceiveBandwidth\" cannot be used"
        ),
        (preferences(#"{"opus":{"dtx":1}}"#), .requestInvalidValue, "opus.dtx\""),
        (preferences("[]"), .requestInvalidValue, "mediaPreferences\" has the wrong type"),
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

    private func candidates(_ candidates: [[String: String]]) throws -> ClientRequest.Meaning {
        let body = ["callControlRequest": ["type": "updateIceCandidate", "iceCandidates": candidates] as [String: Any]]
        let request = try WireJSON.decode(
            CallControlRequest.self, from: JSONSerialization.data(withJSONObject: body))
        return try ClientRequest.operation(request, on: SessionID("A1")).meaning(defaultDomain: "here.test")
    }

    /// 1 MiB may wait for a reader.
    @Test func `the longest candidates that one request can carry fit where notifications wait`() throws {
        let longest = ["candidate": String(repeating: "\u{1}", count: 1_024)]
        guard
            case .command(_, .candidates(let lines)) = try candidates(Array(repeating: longest, count: 64)).request
        else {
            Issue.record("these are candidates")
            return
        }
        #expect(throws: RequestFault.candidatesTooLong(limit: 65_536)) {
            try candidates(Array(repeating: longest, count: 65))
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
