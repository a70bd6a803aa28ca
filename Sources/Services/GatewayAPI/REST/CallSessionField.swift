package import CallControl
import SDP

/// `callSession`: what an application can know of a call that goes on; an addition of ours (docs/client.md).
package struct CallSessionField: Codable, JSONWritable, Equatable, Sendable {
    package var sessionData: String
    /// `RINGING` or `ANSWERED`, as in the protocol's own answer.
    package var state: String
    /// In the words of the clients' call states, such as `ON_HOLD`.
    package var callState: String
    package var direction: String
    /// Milliseconds since 1970.
    package var startTime: Int64
    package var answerTime: Int64?
    /// `anchored` or `direct`.
    package var mediaMode: String
    package var conference: Bool
    /// The own leg first.
    package var legs: [LegField]
    /// Of `callStart`.
    package var startParameters: [CustomParameterField]
    /// Of `callAnswer`.
    package var answerParameters: [CustomParameterField]
    package var timeline: [TimelineField]

    package struct LegField: Codable, Equatable, Sendable {
        /// `self` or `peer`.
        package var leg: String
        package var name: String
        package var address: String
        /// `outgoing`: this end dialled.
        package var direction: String
        package var callState: String
        package var holds: Bool
        package var mediaPath: String?
        package var media: [LineField]
    }

    package struct LineField: Codable, Equatable, Sendable {
        package var mid: String
        package var kind: String
        package var direction: String
    }

    package init(_ session: CallSession) {
        sessionData = session.session.rawValue
        state = session.progress.rawValue
        callState = session.state.rawValue
        direction = CallDirectionField.text(isCalled: session.isIncoming)
        startTime = session.startedAt
        answerTime = session.answeredAt
        mediaMode = session.isAnchored ? "anchored" : "direct"
        conference = session.isConference
        legs = session.members.map { member in
            LegField(
                leg: member.side.rawValue, name: member.name, address: member.address,
                direction: CallDirectionField.text(isCalled: member.isCalled), callState: member.state.rawValue,
                holds: member.holds,
                mediaPath: member.path?.rawValue,
                media: member.media.map { LineField(mid: $0.mid, kind: $0.kind, direction: $0.direction.rawValue) })
        }
        startParameters = session.startParameters.map { CustomParameterField(name: $0.name, value: $0.value) }
        answerParameters = session.answerParameters.map { CustomParameterField(name: $0.name, value: $0.value) }
        timeline = session.timeline.map(TimelineField.init)
    }
}

/// The answer to `GET …/callSessions`.
package struct CallSessionsResponse: WireObject, Encodable, JSONWritable, Equatable {
    package static let wrapper = "callControlResponse"

    package var statusCode = 0
    package var callSessions: [CallSessionField]

    package init(_ sessions: [CallSession]) { callSessions = sessions.map(CallSessionField.init) }
}
