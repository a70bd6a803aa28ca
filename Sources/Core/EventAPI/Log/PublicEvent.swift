package import CallControl
import Primitives

/// An event as the public event log has it: the `/v1` form with its place among all events (docs/call-events.md).
package struct PublicEvent: Equatable, Sendable {
    /// Its place among all events. Numbers grow, with gaps, and none is given twice.
    package var number: Int64
    /// The call's identifier, in hexadecimal digits; empty: it is no event of a call.
    package var call: String
    /// What happened, in two words: `call.answered`.
    package var type: String
    /// Milliseconds since 1970.
    package var time: Int64
    /// Who may see it.
    package var scope: EventScope
    /// The JSON object of ``EventBody``, in UTF-8.
    package var json: [UInt8]

    /// Makes an event of its parts; each parameter is the property of that name.
    package init(number: Int64, call: String, type: String, time: Int64, scope: EventScope, json: [UInt8]) {
        self.number = number
        self.call = call
        self.type = type
        self.time = time
        self.scope = scope
        self.json = json
    }
}

/// An event that is to be published, before the log has given it a number.
package struct Publication: Equatable, Sendable {
    /// What is published.
    package var body: EventBody
    /// Who may see it.
    package var scope: EventScope

    /// The publication of an event; `nil` for what only the gateway and devices need.
    ///
    /// - Parameters:
    ///   - holders: whose the legs are that the call has or had, this event's leg included, in the order in which they
    ///     joined.
    ///   - trace: the trace that the call is part of; `nil`: none.
    package init?(_ event: LoggedEvent, of holders: [LegHolder], trace: TraceContext? = nil) {
        let time = event.startedAt + event.elapsed.wholeNanoseconds / 1_000_000
        guard
            let body = EventBody(
                event.event, of: event.call, sequence: UInt64(event.sequence), time: time, trace: trace)
        else { return nil }
        self.body = body
        scope = EventScope(holders)
    }

    /// The publication of an event that is not counted among those of a call.
    ///
    /// - Parameter holder: who may see it.
    package init(_ body: EventBody, of holder: LegHolder) {
        self.body = body
        scope = EventScope([holder])
    }

    /// The event at its place in the log.
    package func numbered(_ number: Int64) -> PublicEvent {
        PublicEvent(
            number: number, call: body.call ?? "", type: body.type, time: body.time, scope: scope, json: body.json)
    }
}

/// Who may see an event: those who have, or had, a leg of the call when the event happened. A party thus sees nothing
/// of what happened before it joined. Keys are for fewer (`CallHistory.holders(seeing:)`). An event of no call has the
/// user whom it concerns.
///
/// An application is named with its number, so that it sees the legs that it had and no others, whoever gets their
/// addresses, or its name, later. A leg of an application is nothing to a user who has its address.
package struct EventScope: Equatable, Sendable {
    /// The addresses of users, each once, in the order in which they joined.
    package let addresses: [UserAddress]
    /// The applications, each once, in the order in which they joined.
    package let applications: [ApplicationIdentity]

    /// Makes a scope; who comes again is left out.
    package init(_ holders: [LegHolder]) {
        var addresses: [UserAddress] = []
        var applications: [ApplicationIdentity] = []
        for holder in holders {
            switch holder {
            case .user(let user): if !addresses.contains(user) { addresses.append(user) }
            case .application(let identity): if !applications.contains(identity) { applications.append(identity) }
            }
        }
        self.addresses = addresses
        self.applications = applications
    }
}

/// Who reads events, by what may be seen.
package enum EventReader: Hashable, Sendable {
    /// An operator, who sees everything.
    case everything
    /// A user, who sees the calls that the user has or had a leg of.
    case user(UserAddress)
    /// An application, which sees the calls that it has or had a leg of.
    case application(ApplicationIdentity)

    /// Whether the reader may see an event of this scope.
    package func sees(_ scope: EventScope) -> Bool {
        switch self {
        case .everything: true
        case .user(let user): scope.addresses.contains(user)
        case .application(let identity): scope.applications.contains(identity)
        }
    }
}
