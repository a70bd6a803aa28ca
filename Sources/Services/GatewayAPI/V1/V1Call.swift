package import CallControl

/// A call of an application, as `/v1` shows it (openapi/v1.yaml, `Call`).
package struct V1Call: Encodable, Equatable, Sendable {
    /// The name of the application's leg, which stays the same when it moves to another call.
    package let id: String
    /// The call that the leg is part of, as in events.
    package let call: String
    /// The application.
    package let application: String
    /// `incoming` or `outgoing`, seen from the application.
    package let direction: String
    /// How far the call has come: the word of an `ApplicationCallPhase`.
    package let state: String
    /// Counts everything that the application was told about the leg, and its own commands.
    package let version: UInt64
    /// The address that calls.
    package let from: String
    /// The display name of the caller; may be empty.
    package let fromName: String
    /// The address that is called.
    package let to: String
    /// When the leg became part of a call, milliseconds since 1970.
    package let startedAt: Int64
    /// When the leg started to talk, milliseconds since 1970; `nil`: it has not.
    package let answeredAt: Int64?
    /// Until when the application may decide about the call, milliseconds since 1970; `nil`: that is decided, or it is
    /// not asked.
    package let decideBy: Int64?
    /// Why the call is over; `nil`: it is not.
    package let ending: Ending?
    /// The custom parameters that came with the start of the call.
    package let parameters: [CustomParameter]
    /// The application's own text; `nil`: none.
    package let context: String?
    /// Whether the other legs hear nothing of this one.
    package let muted: Bool
    /// Whether each leg hears all others.
    package let conference: Bool
    /// What plays; `nil`: nothing.
    package let playing: Playing?
    /// The list that ended last; `nil`: none has ended.
    package let played: Played?
    /// What is gathered; `nil`: nothing.
    package let gathering: Gathering?
    /// The recordings of the leg, in the order in which they started.
    package let recordings: [Recorded]
    /// The word of an `ApplicationCall.Stream`; `nil`: the leg has no stream.
    package let stream: String?
    /// The commands that the state allows, and `stream` where one can be opened or ended.
    package let allowed: [String]
    /// The other legs, in the order in which they joined.
    package let members: [Member]

    /// Why a call is over.
    package struct Ending: Encodable, Equatable, Sendable {
        /// An `EndingWord`; `left`: the call goes on without the application.
        package let cause: String
        /// A SIP response code; `nil` if the call goes on.
        package let statusCode: Int?
    }

    /// What plays.
    package struct Playing: Encodable, Equatable, Sendable {
        /// The tag of the request; `nil`: it has none.
        package let tag: String?
        /// How many further lists wait.
        package let waiting: Int
    }

    /// A list that plays no more.
    package struct Played: Encodable, Equatable, Sendable {
        /// The tag of the request; `nil`: it had none.
        package let tag: String?
        /// The word of a `PlayedList.Outcome`.
        package let outcome: String
        /// How much of it others could hear.
        package let heardMilliseconds: Int
    }

    /// What is gathered.
    package struct Gathering: Encodable, Equatable, Sendable {
        /// The tag of the request; `nil`: it has none.
        package let tag: String?
        /// The keys so far.
        package let keys: String
    }

    /// A recording of the leg.
    package struct Recorded: Encodable, Equatable, Sendable {
        /// Its name.
        package let id: String
        /// The tag of the request; `nil`: it has none.
        package let tag: String?
        /// The word of a `Recording.State`.
        package let state: String
    }

    /// Another leg.
    package struct Member: Encodable, Equatable, Sendable {
        /// The address of the leg's user.
        package let address: String
        /// The display name; may be empty.
        package let name: String
        /// `called`: the leg was rung; `caller`: it dialled.
        package let role: String
        /// How far the call has come for the leg.
        package let state: String
        /// Whether the leg holds the others.
        package let holds: Bool
    }

    /// Shows a call.
    package init(_ call: ApplicationCall) {
        id = call.id.rawValue
        self.call = call.call.description
        application = call.application.name.description
        direction = call.direction.rawValue
        state = call.state.phase.rawValue
        version = call.version
        from = call.from.text
        fromName = call.fromName
        to = call.to.text
        startedAt = call.startedAt
        answeredAt = call.answeredAt
        decideBy = call.decideBy
        ending =
            switch call.state {
            case .ringing, .progressing, .talking, .held: nil
            case .ended(let cause):
                Ending(cause: cause?.word.rawValue ?? "left", statusCode: cause?.statusCode)
            }
        parameters = call.parameters
        context = call.context
        muted = call.isMuted
        conference = call.isConference
        playing = call.playing.map { Playing(tag: $0.tag, waiting: $0.waiting) }
        played = call.played.map {
            Played(tag: $0.tag, outcome: $0.outcome.rawValue, heardMilliseconds: $0.heard)
        }
        gathering = call.gathering.map { Gathering(tag: $0.tag, keys: $0.keys.map(\.rawValue).joined()) }
        recordings = call.recordings.map {
            Recorded(id: $0.id.description, tag: $0.tag, state: $0.state.rawValue)
        }
        stream = call.stream?.rawValue
        allowed = call.allowed.map(\.rawValue) + (call.allowsStream ? [Self.streamCommand] : [])
        members = call.members.map { member in
            Member(
                address: member.address, name: member.name, role: member.isCalled ? "called" : "caller",
                state: member.state.v1Word, holds: member.holds)
        }
    }

    /// The last segment of the path of streams, which stands among the commands.
    package static let streamCommand = "stream"

    /// The version as an entity tag (RFC 9110 §8.8.3).
    package var entityTag: String { "\"\(version)\"" }
}

extension LegState {
    /// The word of `/v1` for how far a call has come for another leg.
    fileprivate var v1Word: String {
        switch self {
        case .initial, .dialing: "dialing"
        case .sessionProgress: "progressing"
        case .ringing: "ringing"
        case .answering: "answering"
        case .inCall, .onHold, .remotelyHeld, .onDoubleHold: "talking"
        case .ended: "ended"
        }
    }
}
