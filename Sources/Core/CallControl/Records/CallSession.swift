package import SDP

/// A call that goes on, as one end of it may see it.
package struct CallSession: Equatable, Sendable {
    package struct Member: Equatable, Sendable {
        package var side: CallSide
        package var name: String
        package var address: String
        /// Was rung; else it dialled.
        package var isCalled: Bool
        package var state: LegState
        /// Keeps the others waiting.
        package var holds: Bool
        /// `nil` if media goes from peer to peer.
        package var path: MediaPathState?
        /// As agreed with this end, or as it offered; empty if media goes from peer to peer.
        package var media: [Line]

        package init(
            side: CallSide, name: String, address: String, isCalled: Bool, state: LegState, holds: Bool,
            path: MediaPathState? = nil, media: [Line]
        ) {
            self.side = side
            self.name = name
            self.address = address
            self.isCalled = isCalled
            self.state = state
            self.holds = holds
            self.path = path
            self.media = media
        }
    }

    /// An m-line that is in use, seen from the end.
    package struct Line: Equatable, Sendable {
        package var mid: String
        package var kind: String
        package var direction: MediaDirection

        package init(mid: String, kind: String, direction: MediaDirection) {
            self.mid = mid
            self.kind = kind
            self.direction = direction
        }
    }

    package var session: SessionID
    package var progress: CallProgress
    package var state: LegState
    /// The end did not dial.
    package var isIncoming: Bool
    /// The gateway terminates media.
    package var isAnchored: Bool
    package var isConference: Bool
    /// Milliseconds since 1970.
    package var startedAt: Int64
    package var answeredAt: Int64?
    /// The own end first, then in the order of their coming.
    package var members: [Member]
    package var startParameters: [CustomParameter]
    package var answerParameters: [CustomParameter]
    package var timeline: [CallLogRecord.Event]

    package init(
        session: SessionID, progress: CallProgress, state: LegState, isIncoming: Bool, isAnchored: Bool,
        isConference: Bool,
        startedAt: Int64, answeredAt: Int64? = nil, members: [Member], startParameters: [CustomParameter],
        answerParameters: [CustomParameter], timeline: [CallLogRecord.Event]
    ) {
        self.session = session
        self.progress = progress
        self.state = state
        self.isIncoming = isIncoming
        self.isAnchored = isAnchored
        self.isConference = isConference
        self.startedAt = startedAt
        self.answeredAt = answeredAt
        self.members = members
        self.startParameters = startParameters
        self.answerParameters = answerParameters
        self.timeline = timeline
    }
}

/// How far the way of media to an end is; spelt as on the wire.
package enum MediaPathState: String, Equatable, Sendable, CaseIterable {
    case waiting
    case connected
    case secured
    /// Media has come in.
    case flowing
    /// The peer is not heard of; the call ends unless it comes back.
    case lost
}

extension Call {
    /// What an end may see of the call.
    package func session(for leg: Leg, _ history: CallHistory) throws(CallError) -> CallSession {
        let own = try member(leg)
        var isConference = false
        if case .answered(let answered) = state { isConference = answered.isConference }
        return CallSession(
            session: own.party.session, progress: try progress(for: leg), state: legState(leg),
            isIncoming: own.isCalled,
            isAnchored: legs.contains { $0.media != nil }, isConference: isConference,
            startedAt: history.start(of: leg),
            answeredAt: history.answer(of: leg),
            members: ([own] + legs.filter { $0.id != leg }).map { view(of: $0, seenFrom: leg) },
            startParameters: history.startParameters, answerParameters: history.answerParameters,
            timeline: history.timeline(seenFrom: leg))
    }

    private func view(of leg: CallLeg, seenFrom own: Leg) -> CallSession.Member {
        CallSession.Member(
            side: CallSide(leg.id, seenFrom: own), name: leg.party.name, address: leg.party.user.text,
            isCalled: leg.isCalled,
            state: legState(leg.id), holds: leg.holds, path: leg.pathState, media: leg.media?.lines ?? [])
    }
}

extension CallLeg {
    fileprivate var pathState: MediaPathState? {
        guard let media else { return nil }
        if isPathLost { return .lost }
        return switch media.progress {
        case .waiting: .waiting
        case .checked: .connected
        case .secured: .secured
        case .flowing: .flowing
        }
    }
}

extension LegMedia {
    fileprivate var lines: [CallSession.Line] {
        if let negotiated {
            return negotiated.media.filter { !$0.isRejected }.map { media in
                CallSession.Line(mid: media.mid, kind: media.kind.token, direction: media.direction.reversed)
            }
        }
        return described?.usableMedia.map {
            CallSession.Line(mid: $0.mid, kind: $0.kind.token, direction: $0.direction)
        } ?? []
    }
}
