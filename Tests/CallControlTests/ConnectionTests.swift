import CallControl
import CallSupport
import Primitives
import SDP
import SPiDR
import TestSupport
import Testing

/// Calls that the gateway places for a user (click-to-call, spidr-wire §10): an application calls Bob's devices under
/// Carol's name, and transfers the one that answers to Carol.
struct ConnectionTests {
    private static let ringback = HeadlessSource.playback(Playback(.tone(.ringback)))
    private static let carol = UserAddress(parsing: "carol@example.com")!

    private struct Rig {
        var call: Call
        var clock = VirtualClock()
        var random = SeededRandomSource(seed: 5)
        var history: CallHistory
        var records: [CallLogRecord] = []
        private(set) var target = LegID.caller

        init() {
            var connector = CallParty(
                user: .connector, name: "Carol", session: "K", endpoint: .application(ConnectionTests.ringback))
            connector.shownNumber = ConnectionTests.carol.text
            var configuration = Call.Configuration()
            configuration.mediaPolicy = .engine
            call = Call(
                id: CallID(7),
                parties: PerLeg(
                    caller: connector,
                    callee: CallParty(
                        user: CallRig.bob, name: "Bob", session: "B", devices: [Device("b1"), Device("b2")])),
                configuration: configuration)
            history = CallHistory(origin: Moment(clock.now, epochMilliseconds: 0))
        }

        private mutating func note(_ actions: [CallAction]) -> [CallAction] {
            records += history.record(actions, at: clock.now)
            return actions
        }

        mutating func start() throws(CallError) -> [CallAction] {
            var request = CallStartRequest(callee: CallRig.bob, sdp: "")
            request.isConnector = true
            let mode = MediaMode.anchored(
                PerLeg(caller: CallRig.identity("gwcaller"), callee: CallRig.identity("gwcallee")))
            return note(try call.start(request, media: mode, at: clock.now, random: &random))
        }

        mutating func answer() throws(CallError) -> [CallAction] {
            let request = CallAnswerRequest(sdp: ScriptedDescription.audio("bobs", .sendReceive, setup: "active"))
            return note(try call.answer(by: .callee, request, from: "b2", at: clock.now, random: &random))
        }

        mutating func transfer() throws(CallError) -> [CallAction] {
            target = call.takeLeg()
            let party = CallParty(
                user: ConnectionTests.carol, name: "Carol", session: "C", devices: [Device("c1")])
            let target = CallTarget(leg: target, party: party, identity: CallRig.identity("gwtarget"))
            return note(try call.transfer(by: .caller, to: target, at: clock.now, random: &random))
        }

        mutating func pickUp() throws(CallError) -> [CallAction] {
            let request = CallAnswerRequest(sdp: ScriptedDescription.audio("carol", .sendReceive, setup: "active"))
            return note(try call.answer(by: target, request, from: "c1", at: clock.now, random: &random))
        }

        mutating func perform(_ change: (inout Call, MonotonicTime) throws -> [CallAction]) throws -> [CallAction] {
            note(try change(&call, clock.now))
        }

        mutating func wait(_ duration: Duration) -> [CallAction] {
            clock.advance(by: duration)
            return note(call.timeout(at: clock.now))
        }

        /// Answered by Bob's second device; Carol's device rings.
        static func connecting() throws -> Rig {
            var rig = Rig()
            _ = try rig.start()
            _ = try rig.answer()
            _ = rig.call.mediaAdvanced(.callee, to: .secured)
            _ = try rig.transfer()
            return rig
        }
    }

    /// Who is told what, with code and sentence.
    private func told(_ actions: [CallAction]) -> [String] {
        actions.told.map { told in
            let words: [String?] = [
                told.receivers.map(\.rawValue).joined(separator: "+"), told.notification.type.rawValue,
                told.notification.statusCode.map { "\($0)" }, told.notification.reasonText,
                told.notification.endedBy.map { "by \($0)" },
            ]
            return words.compactMap(\.self).joined(separator: " ")
        }
    }

    @Test func `the user's devices are called under the target's name, and may answer or reject`() throws {
        var rig = Rig()
        let told = try rig.start().told
        #expect(told.map(\.receivers) == [["b1", "b2"]])
        let call = try #require(told.first?.notification)
        #expect(call.type == .call)
        #expect(call.actions == [.answer, .reject])
        #expect(call.parties?.callerName == "Carol")
        #expect(call.parties?.callerDisplayNumber == "carol@example.com")
        #expect(call.parties?.calleeDisplayNumber == "bob@example.com")
        #expect(try ScriptedDescription.directions(call.sdp ?? "") == [.sendReceive])
        let before = rig.call
        #expect(throws: CallError.unsupported(.forwardOfConnection)) { try rig.call.checkForward(by: .callee) }
        #expect(rig.call == before)
    }

    @Test func `the one that answers hears ringback until the target answers, and then the target`() throws {
        var rig = Rig()
        _ = try rig.start()
        let answered = try rig.answer()
        #expect(told(answered) == ["b1 callCancel by own", "b2 callCancel by own"])
        #expect(answered.contains(.prepareHeadless(.caller, Self.ringback)))
        #expect(answered.contains(.route(.callee, .leg(.caller))))
        let rung = try rig.transfer()
        let invitation = try #require(rung.told.first)
        #expect(rung.told.count == 1 && invitation.receivers == ["c1"])
        #expect(invitation.notification.parties?.callerName == "Bob")
        #expect(invitation.notification.parties?.callerDisplayNumber == "bob@example.com")
        let connected = try rig.pickUp()
        #expect(told(connected) == ["c1 callCancel by own", "b2 startCallUpdate"])
        let update = try #require(connected.told.last?.notification)
        #expect(update.parties?.callerDisplayNumber == "carol@example.com")
        #expect(
            connected.contains(.route(.callee, .leg(LegID(2)))) && connected.contains(.route(LegID(2), .leg(.callee))))
        #expect(connected.contains(.releaseLeg(.caller)))
        // The connector's client, so to speak, ends its part.
        let left = try rig.perform { call, now in try call.end(by: .caller, from: nil, reasonText: nil, at: now) }
        #expect(told(left) == [])
        let ended = try rig.perform { call, now in
            try call.end(by: LegID(2), from: "c1", reasonText: "bye", at: now)
        }
        #expect(told(ended) == ["b2 callEnd bye by peer"])
        #expect(rig.records.map(\.user) == [CallRig.bob, Self.carol], "the connector has no log")
        #expect(rig.records.map(\.direction) == [.incoming, .incoming])
    }

    @Test(
        arguments: [
            (.noSuchUser, "b2 callEnd 404 User not found by gateway"),
            (.notRegistered, "b2 callEnd 480 Not registered by gateway"),
            (.busy, "b2 callEnd 486 User busy by gateway"),
        ] as [(CallEndCause.Unreachable, String)])
    func `a target that cannot be rung ends the call, as it would have ended if the user had dialled`(
        _ reason: CallEndCause.Unreachable, _ expected: String
    ) throws {
        var rig = Rig()
        _ = try rig.start()
        _ = try rig.answer()
        let ended = try rig.perform { call, now in try call.transferUnreachable(by: .caller, reason, at: now) }
        #expect(told(ended) == [expected])
        #expect(ended.contains(.releaseMedia))
        #expect(rig.call.nextDeadline == nil)
        let record = try #require(rig.records.first)
        #expect(record.ending?.cause == .ended(.targetNotReached(cause: .unreachable(reason), by: nil)))
        #expect(record.direction == .incoming)
    }

    @Test(arguments: ["rejects", "does not answer", "leaves"])
    func `a target that does not take the call ends it`(_ what: String) throws {
        var rig = try Rig.connecting()
        let target = rig.target
        let ended =
            switch what {
            case "rejects": try rig.perform { call, now in try call.reject(by: target, from: "c1", at: now) }
            case "leaves":
                try rig.perform { call, now in
                    call.deviceChanged(target, .left("c1", othersRemain: false), at: now)
                }
            default: rig.wait(.seconds(61))
            }
        let expected = [
            "rejects": ["c1 callCancel by own", "b2 callEnd 603 Declined by peer"],
            "leaves": ["b2 callEnd 480 Not registered by peer"],
            "does not answer": ["c1 callEnd 487 No answer by gateway", "b2 callEnd 487 No answer by gateway"],
        ]
        #expect(told(ended) == expected[what])
        #expect(ended.contains(.releaseMedia))
        #expect(rig.call.nextDeadline == nil)
        #expect(rig.records.map(\.user) == [Self.carol, CallRig.bob])
    }

    @Test func `a user who hangs up while the target rings cancels that`() throws {
        var rig = try Rig.connecting()
        let ended = try rig.perform { call, now in
            try call.end(by: .callee, from: "b2", reasonText: nil, at: now)
        }
        #expect(told(ended) == ["c1 callEnd 487 Caller hung up by peer"])
        #expect(ended.contains(.releaseMedia))
    }

    @Test(arguments: [true, false])
    func `a user whose devices reject or do not answer is not connected`(_ rejects: Bool) throws {
        var rig = Rig()
        _ = try rig.start()
        let ended =
            try rejects
            ? rig.perform { call, now in try call.reject(by: .callee, from: "b1", at: now) } : rig.wait(.seconds(61))
        #expect(
            told(ended) == [rejects ? "b1+b2 callCancel by own" : "b1+b2 callEnd 487 No answer by gateway"])
        let released = ended.contains { action in
            if case .event(let event) = action, case .released = event.fact { event.leg == .caller } else { false }
        }
        #expect(released, "the connector learns it")
    }

    @Test func `a transfer of a user who can go back still leaves everything as it was`() throws {
        var rig = try MidCallRig()
        let target = rig.call.takeLeg()
        _ = try rig.call.transfer(
            by: .caller, to: TransferTests.target(target), at: rig.clock.now, random: &rig.random)
        let failed = try rig.call.reject(by: target, at: rig.clock.now)
        #expect(failed.told.map(\.notification.type) == [.callCancel, .sessionFail])
    }
}
