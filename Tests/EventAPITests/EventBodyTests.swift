import CallControl
import EventAPI
import Foundation
import Primitives
import TestSupport
import Testing

/// The `/v1` form of a call's events (docs/call-events.md).
struct EventBodyTests {
    private static let alice = UserAddress(parsing: "alice@example.com")!
    private static let bob = UserAddress(parsing: "bob@example.com")!

    /// Alice calls Bob, who answers after two seconds and hangs up after three more; media goes from peer to peer.
    private func bodies() throws -> [EventBody] {
        var call = Call(
            id: CallID(0xAB),
            parties: PerLeg(
                caller: CallParty(
                    user: Self.alice, name: "Alice", session: SessionID("A"), devices: [Device(SubscriptionID("a1"))]),
                callee: CallParty(
                    user: Self.bob, name: "Bob", session: SessionID("B"), devices: [Device(SubscriptionID("b1"))])))
        var random = SeededRandomSource(seed: 1)
        var bodies: [EventBody] = []
        var count: UInt64 = 0
        func take(_ actions: [CallAction], at now: MonotonicTime) {
            for case .event(let event) in actions {
                count += 1
                let time = (now - .zero).wholeNanoseconds / 1_000_000
                if let body = EventBody(event, of: call.id, sequence: count, time: time) { bodies.append(body) }
            }
        }
        let content = CustomContent(parameters: [CustomParameter(name: "X-Ticket", value: "7")])
        take(
            try call.start(
                CallStartRequest(callee: Self.bob, sdp: "v=0", content: content), media: .direct, at: .zero,
                random: &random), at: .zero)
        let answered = MonotonicTime.zero + .seconds(2)
        take(
            try call.perform(
                .answer(CallAnswerRequest(sdp: "v=0")), by: .callee, from: nil, at: answered, random: &random),
            at: answered)
        let ended = MonotonicTime.zero + .seconds(5)
        take(
            try call.perform(.end(reasonText: "bye"), by: .callee, from: nil, at: ended, random: &random), at: ended)
        return bodies
    }

    @Test func `a call is told in the gateway's own words`() throws {
        let lines = try bodies().map { "\($0.time) \($0.leg.map { "\($0)" } ?? "-") \($0.type)" }
        #expect(
            lines == [
                "0 0 leg.joined", "0 1 leg.joined", "0 1 leg.invited", "0 1 leg.ringing", "2000 1 leg.answered",
                "2000 0 leg.answered", "2000 - call.answered", "5000 0 leg.released", "5000 1 leg.released",
                "5000 - call.ended",
            ])
    }

    @Test func `numbers go up, and where one is missing an event is left out`() throws {
        let numbers = try bodies().compactMap(\.sequence)
        #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
        #expect(numbers.first == 1 && numbers.last.map { Int($0) }! > numbers.count)
    }

    /// The data of a fact about the callee, as a line.
    private func data(_ fact: CallEvent.Fact) throws -> String {
        let body = try #require(EventBody(CallEvent(.callee, fact), of: CallID(1), sequence: 1, time: 0))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return String(decoding: try encoder.encode(body.data), as: UTF8.self)
    }

    @Test(
        arguments: [
            (.rejected(reasonText: nil), "call_rejected", 603, ""),
            (.cancelled(reasonText: "later"), "originator_cancel", 487, #","reason":"later""#),
            (.unanswered, "no_answer", 487, ""),
            (.unreachable(.noSuchUser), "unallocated_number", 404, ""),
            (.unreachable(.notRegistered), "subscriber_absent", 480, ""),
            (.unreachable(.busy), "user_busy", 486, ""),
            (.mediaFailed(.caller, .setupTimeout), "media_timeout", 408, #","failure":"setupTimeout""#),
            (.mediaFailed(.caller, .consentExpired), "media_timeout", 408, #","failure":"consentExpired""#),
            (
                .mediaFailed(.caller, .handshakeFailed), "incompatible_destination", 488,
                #","failure":"handshakeFailed""#
            ),
            (
                .mediaFailed(.caller, .fingerprintMismatch), "incompatible_destination", 488,
                #","failure":"fingerprintMismatch""#
            ),
            (.mediaFailed(.caller, .overloaded), "normal_temporary_failure", 503, #","failure":"overloaded""#),
            (.callerLeft, "subscription_ended", 487, ""),
            (.clientLost(.caller), "client_lost", 480, ""),
            (.transferred(by: .caller), "normal_clearing", 200, ""),
            (.joinFailed, "join_failed", 480, ""),
            (.targetNotReached(cause: .unreachable(.busy), by: nil), "user_busy", 486, ""),
            (
                .targetNotReached(cause: .rejected(reasonText: "no"), by: LegID(2)), "call_rejected", 603,
                #","reason":"no""#
            ),
            (.drained, "normal_temporary_failure", 503, ""),
            (
                .endedByOperator(reasonText: "maintenance"), "normal_temporary_failure", 503,
                #","reason":"maintenance""#
            ),
            (.interrupted, "normal_temporary_failure", 503, ""),
        ] as [(CallEndCause, String, Int, String)])
    func `an end has a word and a code, and the words of a user or what was wrong with the media`(
        _ cause: CallEndCause, _ word: String, _ code: Int, _ more: String
    ) throws {
        let members = #"\#(more),"statusCode":\#(code)}"#
        #expect(try data(.released(cause, by: .caller)) == #"{"cause":"\#(word)","endedBy":0"# + members)
        #expect(try data(.left(cause, by: .caller)) == #"{"cause":"\#(word)","endedBy":0"# + members)
        let failed = TransferFailure.targetNotReached(cause: cause)
        #expect(try data(.transferFailed(reason: failed)) == #"{"cause":"\#(word)""# + members)
    }

    @Test func `what an application sends along comes with the invitation, with the answer and alone`() throws {
        func data(_ fact: CallEvent.Fact) throws -> [String: EventValue] {
            try #require(EventBody(CallEvent(.callee, fact), of: CallID(1), sequence: 1, time: 0)).data
        }
        let content = CustomContent(
            parameters: [CustomParameter(name: "X-Ticket", value: "7")],
            bodies: [
                CustomBody(contentType: "text/plain", body: "hello"),
                CustomBody(contentType: "a/b", contentDisposition: "render", body: ""),
            ])
        var members: [String: EventValue] = [
            "parameters": .list([.object(["name": .string("X-Ticket"), "value": .string("7")])]),
            "bodies": .list([
                .object(["contentType": .string("text/plain"), "body": .string("hello")]),
                .object([
                    "contentType": .string("a/b"), "contentDisposition": .string("render"), "body": .string(""),
                ]),
            ]),
        ]
        #expect(try data(.content(content)) == members)
        #expect(try data(.content(CustomContent())) == ["parameters": .list([])], "without any they are absent")
        members["setupMilliseconds"] = .integer(2_000)
        #expect(try data(.established(.init(setup: .seconds(2), content: content))) == members)
        members["setupMilliseconds"] = nil
        members["devices"] = .integer(0)
        #expect(try data(.invited(devices: [], invitation: .init(content: content))) == members)
    }

    @Test func `a transfer fails too if the other call does not hand over its leg`() throws {
        let failed = try data(.transferFailed(reason: .callNotHandedOver))
        #expect(failed == #"{"cause":"transfer_failed","statusCode":480}"#)
    }

    @Test func `an event is written as its document says`() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let written = try bodies().map { String(decoding: try encoder.encode($0), as: UTF8.self) }
        #expect(
            written[1] == #"{"call":"ab","data":{"address":"bob@example.com","arrival":"called","name":"Bob","#
                + #""role":"callee","session":"B"},"leg":1,"sequence":2,"time":0,"type":"leg.joined","version":1}"#)
        #expect(
            written[2] == #"{"call":"ab","data":{"devices":1,"parameters":[{"name":"X-Ticket","value":"7"}]},"#
                + #""leg":1,"sequence":3,"time":0,"type":"leg.invited","version":1}"#)
        #expect(
            written.last == #"{"call":"ab","data":{"cause":"normal_clearing","endedBy":1,"reason":"bye","#
                + #""setupMilliseconds":2000,"statusCode":200,"talkMilliseconds":3000},"#
                + #""sequence":13,"time":5000,"type":"call.ended","version":1}"#)
    }

    @Test func `an application that is asked is told who calls whom, and until when it may decide`() throws {
        func data(_ milliseconds: Int?) throws -> [String: EventValue] {
            let audience = CallEvent.Audience(
                devices: [], session: SessionID("B"), local: DisplayName(name: "Bot", number: Self.bob.text),
                remote: .user(DisplayName(name: "Alice", number: Self.alice.text)), isCalled: true)
            let invitation = CallEvent.Invitation(decisionMilliseconds: milliseconds)
            let event = CallEvent(.callee, .invited(devices: [], invitation: invitation), to: audience)
            return try #require(EventBody(event, of: CallID(1), sequence: 3, time: 5_000)).data
        }
        let plain: [String: EventValue] = ["devices": .integer(0), "parameters": .list([])]
        #expect(try data(nil) == plain)
        let asked: [String: EventValue] = [
            "decideBy": .integer(15_000), "session": .string("B"), "from": .string("alice@example.com"),
            "fromName": .string("Alice"), "to": .string("bob@example.com"),
        ]
        #expect(try data(10_000) == plain.merging(asked) { $1 })
    }

    @Test func `a trace is written as a member of its own, and is found there and nowhere else`() throws {
        let header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        let trace = try #require(TraceContext(header))
        // Words of others that look like the member.
        for words in ["plain", #","traceparent":"\#(header)","type":""#] {
            let content = CustomContent(parameters: [CustomParameter(name: "traceparent", value: words)])
            for expected in [trace, nil] {
                let body = try #require(
                    EventBody(
                        CallEvent(.callee, .content(content)), of: CallID(1), sequence: 1, time: 5, trace: expected))
                let text = String(decoding: body.json, as: UTF8.self)
                #expect(text.contains(#""time":5,"traceparent":"\#(header)","type":"#) == (expected != nil))
                #expect(EventBody.traceContext(in: body.json) == expected)
                let event = Publication(body, of: .user(Self.alice)).numbered(7)
                #expect(EventBody.traceContext(in: event.object(in: "log")) == expected)
            }
        }
        #expect(EventBody.traceContext(in: []) == nil)
        #expect(EventBody.traceContext(in: Array(#"{"type":"webhook.test","version":1}"#.utf8)) == nil)
    }
}
