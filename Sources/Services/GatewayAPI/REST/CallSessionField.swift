package import CallControl
import SDP
package import SPiDR

/// `callSession`: what an application can know of a call that goes on; an addition of this gateway (docs/client.md).
package struct CallSessionField: Codable, Equatable, Sendable {
    /// The name of the user's own leg.
    package var sessionData: String
    /// `RINGING` or `ANSWERED`, as in the protocol's own state query (spidr-wire §6.8).
    package var state: String
    /// The state of the own leg in the words of the clients' call states, such as `ON_HOLD` (docs/call-states.md).
    package var callState: String
    /// `outgoing` if the own leg dialled, otherwise `incoming`.
    package var direction: String
    /// When the call started for this user: milliseconds since 1970.
    package var startTime: Int64
    /// When the user's end and another started to talk: milliseconds since 1970. `nil`: not yet.
    package var answerTime: Int64?
    /// `anchored` if media goes through the gateway, `direct` if it goes from peer to peer.
    package var mediaMode: String
    /// Whether the call is a conference.
    package var conference: Bool
    /// All parties of the call, the own leg first.
    package var legs: [LegField]
    /// The custom parameters of `callStart`.
    package var startParameters: [CustomParameterField]
    /// The custom parameters of `callAnswer`.
    package var answerParameters: [CustomParameterField]
    /// What has happened in the call so far, in order.
    package var timeline: [TimelineField]

    /// One party of the call.
    package struct LegField: Codable, Equatable, Sendable {
        /// `self` or `peer`.
        package var leg: String
        /// The party's display name.
        package var name: String
        /// The party's address, `user@domain`.
        package var address: String
        /// `outgoing` if the party dialled, `incoming` if it was rung.
        package var direction: String
        /// The state of this leg, as ``CallSessionField/callState``.
        package var callState: String
        /// Whether this party keeps the others on hold.
        package var holds: Bool
        /// How far the media path to this party is: `waiting`, `connected` (ICE), `secured` (DTLS), `flowing` or
        /// `lost`. `nil` where media goes from peer to peer.
        package var mediaPath: String?
        /// The m-lines in use; empty where media goes from peer to peer.
        package var media: [LineField]
    }

    /// One m-line, seen from the party.
    package struct LineField: Codable, Equatable, Sendable {
        /// The identification of the m-line, `a=mid` (RFC 5888).
        package var mid: String
        /// The media type of the m-line, such as `audio` or `video`.
        package var kind: String
        /// `sendrecv`, `sendonly`, `recvonly` or `inactive`, seen from the party.
        package var direction: String
    }

    /// Makes the field of a call as its user may see it.
    package init(_ session: CallSession) {
        sessionData = session.session.rawValue
        state = session.progress.word
        callState = session.state.word
        direction = CallDirectionField.text(isCalled: session.isIncoming)
        startTime = session.startedAt
        answerTime = session.answeredAt
        mediaMode = session.isAnchored ? "anchored" : "direct"
        conference = session.isConference
        legs = session.members.map { member in
            LegField(
                leg: member.side.word, name: member.name, address: member.address,
                direction: CallDirectionField.text(isCalled: member.isCalled), callState: member.state.word,
                holds: member.holds,
                mediaPath: member.path?.word,
                media: member.media.map {
                    LineField(mid: $0.mid, kind: $0.kind.token, direction: $0.direction.rawValue)
                })
        }
        startParameters = session.startParameters.map { CustomParameterField(name: $0.name, value: $0.value) }
        answerParameters = session.answerParameters.map { CustomParameterField(name: $0.name, value: $0.value) }
        timeline = session.timeline.map(TimelineField.init)
    }
}

/// `callControlResponse`: the answer to `GET …/callSessions` (docs/client.md).
package struct CallSessionsResponse: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "callControlResponse"

    /// Always 0, success (spidr-wire §1.6).
    package var statusCode = 0
    /// All calls of the user that go on.
    package var callSessions: [CallSessionField]

    /// Makes the answer, with the calls in the order given.
    package init(_ sessions: [CallSession]) { callSessions = sessions.map(CallSessionField.init) }
}
