import CallControl
import CallRuntime
import EventAPI
import Foundation

/// What an event says that asks an application about a call: `leg.invited` with `decideBy` (docs/call-events.md).
struct WebhookInvitation: Equatable {
    /// The application's call.
    let session: SessionID
    /// The call in events, in hexadecimal digits.
    let call: String
    /// The trace that the call is part of; `nil`: none.
    let trace: TraceContext?

    /// Reads the JSON object of an event; `nil`: it asks nobody.
    init?(in event: [UInt8]) {
        // Most events ask nobody, and are not read: members are in alphabetical order, and `type` is the last but one.
        guard event.count > Self.ending.count, event.suffix(Self.ending.count).elementsEqual(Self.ending),
            let read = try? JSONDecoder().decode(Event.self, from: Data(event)), read.data.decideBy != nil,
            let session = read.data.session
        else { return nil }
        self.session = SessionID(session)
        call = read.call
        trace = EventBody.traceContext(in: event)
    }

    private static let ending = Array(#","type":"leg.invited","version":1}"#.utf8)

    private struct Event: Decodable {
        struct Invitation: Decodable {
            let session: String?
            let decideBy: Int64?
        }

        let call: String
        let data: Invitation
    }

    /// The event that says why the command in an answer was not carried out.
    ///
    /// - Parameters:
    ///   - webhook: the one whose answer is refused. Its application is told.
    ///   - time: now, in milliseconds since 1970.
    func publication(of refusal: WebhookAnswerRefusal, to webhook: Webhook, at time: Int64) -> Publication {
        let event = OtherEvent.webhookAnswerRefused(
            webhook: webhook.id, session: session, call: UInt64(call, radix: 16).map { CallID($0) }, code: refusal.code,
            reason: refusal.reason)
        return Publication(EventBody(event, at: time, trace: trace), of: .application(webhook.application))
    }
}
