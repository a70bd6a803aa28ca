import CallControl
import CallRuntime
import GatewayAPI
import SDP
import SPiDR

/// Calls in progress.
extension AdminResponder {
    /// How far a call is.
    enum CallPhase: String, CaseIterable {
        /// Nobody has answered.
        case ringing
        /// Two parties have talked.
        case answered
    }

    func listCalls(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let page = try PageRequest(call.parameters, of: .listCalls, parts: 1)
        let user = call.parameters["user"]?.lowercased()
        let phase = try call.parameters.word("state", CallPhase.self)
        var calls = administration.callsInProgress
        if let last = page.after.flatMap({ UInt64($0[0], radix: 16) }) { calls.removeAll { $0.rawValue <= last } }
        calls.sort { $0.rawValue < $1.rawValue }
        var read: [CallField] = []
        for id in calls {
            // A call that has ended meanwhile is left out.
            guard let overview = await administration.overview(of: id) else { continue }
            let field = CallField(overview, withTimeline: false)
            if let user, !field.legs.contains(where: { $0.user == user }) { continue }
            if let phase, field.state != phase.rawValue { continue }
            read.append(field)
            if read.count > page.limit { break }
        }
        return .json(Page(read, page, of: .listCalls) { [$0.id] })
    }

    func showCall(_ call: Call) async throws(AdminError) -> AdminAnswer {
        guard let overview = await administration.overview(of: try self.call(call)) else { throw .noSuchCall }
        return .json(CallField(overview, withTimeline: true))
    }

    func endCall(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let id = try self.call(call)
        guard await administration.endCall(id, reasonText: call.parameters["reason"]) else { throw .noSuchCall }
        try await durable()
        return .json(["ended": id.description])
    }

    private func call(_ call: Call) throws(AdminError) -> CallID {
        guard let text = call.values["id"], let number = UInt64(text, radix: 16) else { throw .noSuchCall }
        return CallID(number)
    }
}

extension AdminError {
    fileprivate static let noSuchCall = AdminError(
        .callNotFound, "There is no such call; it may have ended, and then it is in the call log of its users.")
}

/// A call as it is shown.
struct CallField: Encodable, Equatable, Sendable {
    var id: String
    var state: String
    var startedAt: Int64
    var answeredAt: Int64?
    var mediaMode: String
    var conference: Bool
    var legs: [LegField]
    var timeline: [EntryField]?

    struct LegField: Encodable, Equatable, Sendable {
        var leg: UInt64
        var user: String
        var name: String
        var direction: String
        var state: String
        var holds: Bool
        var mediaPath: String?
        var media: [String]
        var startedAt: Int64
        var answeredAt: Int64?
    }

    struct EntryField: Encodable, Equatable, Sendable {
        var time: Int64
        var event: String
        var leg: UInt64?
        var address: String?
        var device: Int?
        var statusCode: Int?
        var cause: String?
        var reasonText: String?
    }

    init(_ overview: CallOverview, withTimeline: Bool) {
        id = overview.id.description
        state = (overview.answeredAt == nil ? AdminResponder.CallPhase.ringing : .answered).rawValue
        startedAt = overview.startedAt
        answeredAt = overview.answeredAt
        mediaMode = overview.isAnchored ? "anchored" : "direct"
        conference = overview.isConference
        legs = overview.legs.map { leg in
            LegField(
                leg: leg.id.number, user: leg.user.text, name: leg.member.name,
                direction: leg.member.isCalled ? "incoming" : "outgoing", state: leg.member.state.word,
                holds: leg.member.holds, mediaPath: leg.member.path?.word,
                media: leg.member.media.map { "\($0.kind.token) \($0.direction.rawValue)" },
                startedAt: leg.startedAt, answeredAt: leg.answeredAt)
        }
        guard withTimeline else { return }
        timeline = overview.timeline.map { entry in
            let words = entry.cause.map(EndingWords.init)
            return EntryField(
                time: entry.time, event: entry.event.word, leg: entry.leg?.number, address: entry.party,
                device: entry.device, statusCode: words?.statusCode, cause: words?.cause,
                reasonText: words?.reasonText)
        }
    }
}
