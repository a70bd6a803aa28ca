package import SDP

/// A call in progress, as one of its legs may see it.
package struct CallSession: Equatable, Sendable {
    /// A leg of the call.
    package struct Member: Equatable, Sendable {
        /// The place of the leg, seen from the one that asks.
        package var side: CallSide
        /// The display name of the leg's user; may be empty.
        package var name: String
        /// The address of the leg's user, `user@domain`.
        package var address: String
        /// The leg was rung; otherwise it dialled.
        package var isCalled: Bool
        /// The state of the call, as this leg sees it.
        package var state: LegState
        /// The leg holds the others.
        package var holds: Bool
        /// How far its media path has come; `nil` if media goes from peer to peer, or the leg is headless.
        package var path: MediaPathState?
        /// The m-lines that were agreed with this leg, or that it offered; empty if media goes from peer to peer.
        package var media: [Line]

        /// Makes a member of its parts; each parameter is the property of that name.
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

    /// An m-line that is in use, seen from the leg.
    package struct Line: Equatable, Sendable {
        /// The identification of the m-line (`a=mid`).
        package var mid: String
        /// The kind of media, as the description gives it.
        package var kind: MediaKind
        /// The direction in which media goes, seen from the leg: `sendonly` if only the leg sends.
        package var direction: MediaDirection

        /// Makes a line of its parts; each parameter is the property of that name.
        package init(mid: String, kind: MediaKind, direction: MediaDirection) {
            self.mid = mid
            self.kind = kind
            self.direction = direction
        }
    }

    /// The `sessionData` of the leg that asks.
    package var session: SessionID
    /// The answer to the state query: rung or answered.
    package var progress: CallProgress
    /// The state of the call, as the leg that asks sees it.
    package var state: LegState
    /// The leg that asks can hear something before the answer.
    package var hearsEarly: Bool
    /// The leg that asks was rung, or brought into the call; otherwise it dialled.
    package var isIncoming: Bool
    /// The gateway terminates the media.
    package var isAnchored: Bool
    /// The call is a conference.
    package var isConference: Bool
    /// When the leg that asks became part of the call, milliseconds since 1970.
    package var startedAt: Int64
    /// When the leg that asks started to talk, milliseconds since 1970; `nil`: it has not.
    package var answeredAt: Int64?
    /// All legs: first the one that asks, then the others in the order in which they joined.
    package var members: [Member]
    /// The custom parameters that came with the start of the call.
    package var startParameters: [CustomParameter]
    /// The custom parameters that came with its answer.
    package var answerParameters: [CustomParameter]
    /// What has happened in the call, in order, as the leg that asks sees it.
    package var timeline: [CallLogRecord.Event]
    /// The trace that the call is part of; `nil`: none.
    package var trace: TraceContext?

    /// Makes a session of its parts; each parameter is the property of that name.
    package init(
        session: SessionID, progress: CallProgress, state: LegState, hearsEarly: Bool = false, isIncoming: Bool,
        isAnchored: Bool, isConference: Bool,
        startedAt: Int64, answeredAt: Int64? = nil, members: [Member], startParameters: [CustomParameter],
        answerParameters: [CustomParameter], timeline: [CallLogRecord.Event], trace: TraceContext? = nil
    ) {
        self.session = session
        self.progress = progress
        self.state = state
        self.hearsEarly = hearsEarly
        self.isIncoming = isIncoming
        self.isAnchored = isAnchored
        self.isConference = isConference
        self.startedAt = startedAt
        self.answeredAt = answeredAt
        self.members = members
        self.startParameters = startParameters
        self.answerParameters = answerParameters
        self.timeline = timeline
        self.trace = trace
    }
}

/// How far the media path of a leg has come.
package enum MediaPathState: Equatable, Sendable, CaseIterable {
    /// No candidate pair has been checked.
    case waiting
    /// A checked candidate pair may carry media.
    case connected
    /// The SRTP keys are agreed.
    case secured
    /// Media packets have come in.
    case flowing
    /// No packets come from the peer any more. The call ends unless they come again.
    case lost
}

extension Call {
    /// What a leg may see of the call.
    ///
    /// - Throws: `noSuchCall` if the leg is not part of the call, or the call is over.
    package func session(for leg: LegID, _ history: CallHistory) throws(CallError) -> CallSession {
        let own = try member(leg)
        var isConference = false
        if case .answered(let answered) = state { isConference = answered.isConference }
        return CallSession(
            session: own.party.session, progress: try progress(for: leg), state: legState(leg),
            hearsEarly: hearsEarly(leg), isIncoming: own.isCalled,
            isAnchored: legs.contains(where: \.isAnchored), isConference: isConference,
            startedAt: history.start(of: leg),
            answeredAt: history.answer(of: leg),
            members: ([own] + legs.filter { $0.id != leg }).map { view(of: $0, seenFrom: leg) },
            startParameters: history.startParameters, answerParameters: history.answerParameters,
            timeline: history.timeline(seenFrom: leg), trace: history.trace)
    }

    private func view(of leg: CallLeg, seenFrom own: LegID) -> CallSession.Member {
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
                CallSession.Line(mid: media.mid, kind: media.kind, direction: media.direction.reversed)
            }
        }
        return described?.usableMedia.map {
            CallSession.Line(mid: $0.mid, kind: $0.kind, direction: $0.direction)
        } ?? []
    }
}
