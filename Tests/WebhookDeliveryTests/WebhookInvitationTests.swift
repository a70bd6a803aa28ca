import CallControl
import CallRuntime
import EventAPI
import Primitives
import Testing

@testable import WebhookDelivery

/// Which event asks an application about a call, and how a refused answer is told.
struct WebhookInvitationTests {
    private static let alice = UserAddress(parsing: "alice@example.com")!
    private static let bot = UserAddress(parsing: "bot@example.com")!
    private static let bots = ApplicationIdentity("bots#1")!
    private static let holder = LegHolder.application(bots)

    /// The event of a fact about the application's leg, as a webhook is sent it.
    private func event(_ fact: CallEvent.Fact, _ trace: TraceContext? = nil) throws -> [UInt8] {
        let audience = CallEvent.Audience(
            devices: [], session: SessionID("B"), local: DisplayName(name: "Bot", number: Self.bot.text),
            remote: .user(DisplayName(name: "Alice", number: Self.alice.text)), isCalled: true)
        let body = EventBody(
            CallEvent(.callee, fact, to: audience), of: CallID(0xAB), sequence: 3, time: 5_000, trace: trace)
        return Publication(try #require(body), of: Self.holder).numbered(7).object(in: "log")
    }

    @Test func `an invitation of an application is one, with and without a trace`() throws {
        let trace = try #require(TraceContext("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
        for trace in [trace, nil] {
            let asked = CallEvent.Fact.invited(devices: [], invitation: .init(decisionMilliseconds: 9_000))
            let invitation = try #require(WebhookInvitation(in: try event(asked, trace)))
            #expect(invitation.session == SessionID("B") && invitation.call == "ab")
            #expect(invitation.trace == trace)
        }
    }

    @Test func `what asks nobody is none`() throws {
        let words = #","type":"leg.invited","version":1}"#
        let quoting = CustomContent(parameters: [CustomParameter(name: "a", value: words)])
        for fact in [CallEvent.Fact.invited(devices: [], invitation: .init()), .held, .content(quoting)] {
            #expect(WebhookInvitation(in: try event(fact)) == nil)
        }
        for text in ["", "{}", words] { #expect(WebhookInvitation(in: Array(text.utf8)) == nil) }
    }

    @Test func `a refused answer is told to those who hear of the application`() throws {
        let asked = CallEvent.Fact.invited(devices: [], invitation: .init(decisionMilliseconds: 9_000))
        let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        let invitation = try #require(WebhookInvitation(in: try event(asked, TraceContext(trace))))
        let webhook = Webhook(id: "w1", application: Self.bots, url: "https://bots.example.com", keys: Redacted([]))
        let told = invitation.publication(
            of: WebhookAnswerRefusal(code: "call.not_allowed", reason: "The call is decided."), to: webhook, at: 6_000)
        #expect(told.scope == EventScope([Self.holder]))
        #expect(
            String(decoding: told.body.json, as: UTF8.self)
                == #"{"call":"ab","data":{"code":"call.not_allowed","reason":"The call is decided.","session":"B","#
                + #""webhook":"w1"},"time":6000,"traceparent":"\#(trace)","#
                + #""type":"webhook.answer_refused","version":1}"#)
    }
}
