import CallControl
import CallSupport
import Primitives
import SDP
import TestSupport
import Testing

/// The negotiation between two legs, as a value by itself.
struct NegotiationTests {
    enum Step: Sendable {
        case offer(LegID, MediaDirection)
        /// The offer that was agreed on before.
        case repeatOffer(LegID, MediaDirection)
        /// The same media on a new path; `isNewPeer`: from a page that was loaded again.
        case restart(LegID, isNewPeer: Bool)
        case ask(LegID)
        case respond(LegID, MediaDirection)
        /// The answer has taken too long.
        case lapse
        /// So much time passes.
        case wait(Duration)
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let steps: [Step]
        /// What follows from the last step: what is done, for which leg, and the direction of what is described.
        let actions: [String]

        init(_ name: String, _ steps: [Step], _ actions: [String]) {
            (testDescription, self.steps, self.actions) = (name, steps, actions)
        }
    }

    private static let (one, two) = (LegID.caller, LegID.callee)

    static let rows = [
        Row("an offer is passed on", [.offer(one, .inactive)], ["offer 1 inactive", "music"]),
        Row(
            "its answer is passed back", [.offer(one, .sendOnly), .respond(two, .receiveOnly)],
            ["hold 1", "hold 0", "connect 0", "connect 1", "music", "answer 0 recvonly"]),
        Row(
            "two offers that cross answer each other", [.offer(one, .sendOnly), .offer(two, .inactive)],
            ["hold 1", "connect 1", "answer 1 inactive", "hold 0", "connect 0", "answer 0 inactive", "music"]),
        Row(
            "an offer whose answer takes too long is answered in its place", [.offer(one, .inactive), .lapse],
            ["hold 0", "connect 0", "answer 0 inactive", "music"]),
        Row(
            "the late answer changes nothing for the offerer",
            [.offer(one, .inactive), .lapse, .respond(two, .inactive)], ["hold 1", "connect 1", "music"]),
        Row(
            "a leg that has not answered is offered nothing more",
            [.offer(one, .inactive), .lapse, .offer(one, .sendReceive)],
            ["hold 0", "connect 0", "answer 0 sendrecv", "music"]),
        Row(
            "what it was not told is offered when it has answered",
            [.offer(one, .inactive), .lapse, .offer(one, .sendReceive), .respond(two, .inactive), .wait(.seconds(4))],
            ["offer 1 sendrecv"]),
        Row(
            "an offerer that offers anew is answered at once",
            [.offer(one, .inactive), .offer(one, .sendReceive)],
            ["hold 0", "connect 0", "answer 0 sendrecv", "music"]),
        Row(
            "an offer that was agreed on before is answered alone", [.repeatOffer(one, .sendReceive)],
            ["hold 0", "connect 0", "answer 0 sendrecv", "music"]),
        Row(
            "an ICE restart concerns one leg", [.restart(one, isNewPeer: false)],
            ["hold 0", "connect 0", "answer 0 sendrecv", "music"]),
        Row(
            "a page that was loaded again concerns one leg", [.restart(one, isNewPeer: true)],
            ["restart 0", "prepare 0", "hold 0", "connect 0", "answer 0 sendrecv", "music"]),
        Row("a leg asks the other for an offer", [.ask(one)], ["offer 1 -"]),
        Row("that offer is passed on", [.ask(one), .offer(two, .sendOnly)], ["offer 0 sendonly", "music"]),
        Row(
            "an offer of the leg that asked is answered alone", [.ask(one), .offer(one, .sendOnly)],
            ["hold 0", "connect 0", "answer 0 recvonly", "music"]),
        Row("without an offer in time, the gateway makes it", [.ask(one), .lapse], ["offer 0 sendrecv"]),
        Row(
            "a leg that asks while the other one cannot be asked is offered what that one wants",
            [.offer(two, .inactive), .lapse, .ask(two)], ["offer 1 sendrecv"]),
    ]

    private let clock = VirtualClock()

    /// The negotiation of a call in which both legs send and receive, while this operation is in progress.
    private func negotiation(during operation: Call.Operation? = nil) throws -> CallNegotiation {
        let negotiation = try #require(try MidCallRig().call.negotiation)
        return CallNegotiation(
            negotiation.first, negotiation.second, operation: operation ?? negotiation.operation,
            offerTime: .seconds(30))
    }

    private struct Course {
        var negotiation: CallNegotiation
        var now: MonotonicTime
        var random = SeededRandomSource(seed: 5)
        var version = 1

        mutating func take(_ step: Step, _ content: CustomContent = CustomContent()) throws(CallError)
            -> [CallNegotiation.Action]
        {
            version += 1
            switch step {
            case .offer(let leg, let direction), .repeatOffer(let leg, let direction):
                let isRepeated = if case .repeatOffer = step { true } else { false }
                return try offer(
                    leg, ScriptedDescription.audio(name(leg), direction, version: version), content,
                    isRepeated: isRepeated)
            case .restart(let leg, let isNewPeer):
                return try offer(
                    leg,
                    ScriptedDescription.session(
                        "anew", [.sendReceive], setup: "actpass", version: version, peer: isNewPeer ? 2 : 1),
                    content)
            case .ask(let leg): return negotiation.ask(by: leg, content, at: now, random: &random)
            case .respond(let leg, let direction):
                let answer = ScriptedDescription.audio(name(leg), direction, setup: "active", version: version)
                return try negotiation.respond(
                    by: leg, CallUpdateRequest(sdp: answer, content: content), at: now, random: &random)
            case .lapse:
                guard case .update(let update) = negotiation.operation else { return [] }
                now = update.deadline
                return negotiation.answerInPlace(update, at: now, random: &random)
            case .wait(let time):
                now = now + time
                return negotiation.tellNews(at: now, random: &random)
            }
        }

        private mutating func offer(
            _ leg: LegID, _ sdp: String, _ content: CustomContent, isRepeated: Bool = false
        ) throws(CallError) -> [CallNegotiation.Action] {
            try negotiation.offer(
                by: leg, CallUpdateRequest(sdp: sdp, content: content), isRepeated: isRepeated, at: now,
                random: &random)
        }

        private func name(_ leg: LegID) -> String { leg == .caller ? "caller" : "callee" }
    }

    private func course(during operation: Call.Operation? = nil) throws -> Course {
        Course(negotiation: try negotiation(during: operation), now: clock.now)
    }

    @Test(arguments: rows) func `what follows from offers and answers`(_ row: Row) throws {
        var course = try course()
        var actions: [CallNegotiation.Action] = []
        for step in row.steps { actions = try course.take(step) }
        #expect(try actions.map { try $0.label } == row.actions)
    }

    /// A transfer waits for its target: offers are answered by the gateway, and the operation stays.
    @Test func `during another operation no offer is passed on`() throws {
        let transfer = Call.Operation.consultation(
            Call.Consultation(transferor: .caller, other: CallID(2), deadline: clock.now))
        var course = try course(during: transfer)
        let actions = try course.take(.offer(.callee, .inactive))
        #expect(try actions.map { try $0.label } == ["hold 1", "connect 1", "answer 1 inactive", "music"])
        #expect(course.negotiation.operation == transfer)
    }

    @Test func `while the legs are offered to another call, no leg is offered what is new`() throws {
        var course = try course()
        for step in [.offer(.caller, .inactive), .lapse, .respond(.callee, .inactive)] as [Step] {
            _ = try course.take(step)
        }
        _ = try course.take(.repeatOffer(.caller, .sendReceive))
        let handover = Call.Operation.handover(Call.HandoverOffer(to: CallID(2), keeper: .caller))
        var blocked = course
        blocked.negotiation = CallNegotiation(
            course.negotiation.first, course.negotiation.second, operation: handover, offerTime: .seconds(30))
        #expect(try blocked.take(.wait(.seconds(4))).isEmpty)
        #expect(try course.take(.wait(.seconds(4))).map { try $0.label } == ["offer 1 sendrecv"])
    }

    @Test func `content goes with what is passed on, and alone otherwise`() throws {
        let content = CustomContent(parameters: [CustomParameter(name: "X-GPS", value: "1,2")], bodies: [])
        var course = try course()
        guard case .offer(_, .callee, content)? = try course.take(.offer(.caller, .inactive), content).first else {
            Issue.record("the offer has the content")
            return
        }
        guard case .answer(_, .caller, content)? = try course.take(.respond(.callee, .inactive), content).last else {
            Issue.record("the answer has the content")
            return
        }
        let alone = try course.take(.repeatOffer(.callee, .inactive), content)
        #expect(alone.contains(.passOn(content, of: .callee)))
        guard case .offer(nil, .callee, content)? = try course.take(.ask(.caller), content).first else {
            Issue.record("the request for an offer has the content")
            return
        }
        #expect(try course.take(.ask(.caller), content).contains(.passOn(content, of: .caller)))
    }

    @Test func `an answer to nothing, and a description that is none, are refused`() throws {
        var course = try course()
        #expect(throws: CallError.notAllowed(.respond, .state(.inCall))) {
            try course.take(.respond(.callee, .sendReceive))
        }
        #expect {
            try course.negotiation.offer(
                by: .caller, CallUpdateRequest(sdp: "v=0"), isRepeated: false, at: clock.now, random: &course.random)
        } throws: { error in
            if case .malformedDescription? = error as? CallError { true } else { false }
        }
    }
}

/// The negotiation between two legs whose media goes from peer to peer, as a value by itself.
struct DirectNegotiationTests {
    private var negotiation = DirectNegotiation(operation: nil, offerTime: .seconds(30))
    private let one = LegID.caller
    private let two = LegID.callee
    private let clock = VirtualClock()

    private func request(_ direction: MediaDirection?) -> CallUpdateRequest {
        CallUpdateRequest(sdp: direction.map { ScriptedDescription.audio("peer", $0) } ?? "")
    }

    private mutating func offer(_ leg: LegID, _ direction: MediaDirection?) throws(CallError)
        -> [DirectNegotiation.Action]
    {
        try negotiation.offer(by: leg, to: leg == one ? two : one, request(direction), at: clock.now)
    }

    @Test mutating func `an offer is passed on untouched, and its answer back`() throws {
        let (hold, answer) = (request(.sendOnly), request(.receiveOnly))
        #expect(try offer(one, .sendOnly) == [.offer(hold.sdp, to: two, CustomContent())])
        #expect(
            negotiation.respond(by: two, answer, at: clock.now) == [
                .settleHolds(offer: .sendOnly, offerer: one, answer: .receiveOnly, answerer: two), .refreshMusic,
                .answer(answer.sdp, to: one, CustomContent()),
            ])
        #expect(negotiation.operation == nil)
    }

    @Test mutating func `an offer that meets another one has to be made again`() throws {
        _ = try offer(one, .sendOnly)
        let open = negotiation
        #expect(throws: CallError.pending(retryAfter: 2)) { try offer(two, .sendOnly) }
        #expect(negotiation == open)
    }

    @Test mutating func `only the leg that was offered something answers`() throws {
        #expect(negotiation.respond(by: two, request(.sendReceive), at: clock.now) == nil)
        _ = try offer(one, .sendReceive)
        #expect(negotiation.respond(by: one, request(.sendReceive), at: clock.now) == nil)
        #expect(negotiation.respond(by: two, request(nil), at: clock.now) == nil, "nothing is no answer")
    }

    @Test mutating func `a leg that is asked for an offer makes it, and gets the answer`() throws {
        #expect(try offer(one, nil) == [.offer(nil, to: two, CustomContent())])
        let made = request(.sendReceive)
        #expect(negotiation.respond(by: two, made, at: clock.now) == [.offer(made.sdp, to: one, CustomContent())])
        let answered = negotiation.respond(by: one, request(.receiveOnly), at: clock.now)
        #expect(answered?.first == .settleHolds(offer: .sendReceive, offerer: two, answer: .receiveOnly, answerer: one))
    }

    @Test mutating func `an offer without an answer in time is given up, and may be repeated`() throws {
        _ = try offer(one, .sendOnly)
        guard case .update(let update) = negotiation.operation else { throw CallError.pending(retryAfter: 0) }
        #expect(update.deadline == clock.now + .seconds(30))
        #expect(negotiation.abandon(update) == [.forgetOffer(of: one), .abandon(one)])
        #expect(try offer(one, nil).count == 1)
        guard case .update(let question) = negotiation.operation else { throw CallError.pending(retryAfter: 0) }
        #expect(negotiation.abandon(question) == [.abandon(one)], "a question is no offer")
    }
}

extension CallNegotiation.Action {
    /// What is done, the number of the leg, and the direction of what is described.
    fileprivate var label: String {
        get throws {
            switch self {
            case .offer(let description, let leg, _): "offer \(leg.number) \(try direction(description))"
            case .answer(let description, let leg, _): "answer \(leg.number) \(try direction(description))"
            case .abandon(let leg): "abandon \(leg.number)"
            case .passOn(_, let leg): "pass on \(leg.number)"
            case .settleHold(let leg): "hold \(leg.number)"
            case .restart(let leg): "restart \(leg.number)"
            case .prepare(let leg): "prepare \(leg.number)"
            case .connect(let leg): "connect \(leg.number)"
            case .introduce: "introduce"
            case .refreshMusic: "music"
            }
        }
    }

    private func direction(_ description: String?) throws -> String {
        try description.flatMap { try ScriptedDescription.direction($0) }?.rawValue ?? "-"
    }
}
