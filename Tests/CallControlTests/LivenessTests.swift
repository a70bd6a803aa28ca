import CallControl
import CallSupport
import Primitives
import TestSupport
import Testing

/// Clients that are gone without a word (spidr-wire §6.9).
struct LivenessTests {
    @Test func `an end that neither listens nor asks for anything is given up`() throws {
        var rig = try MidCallRig()
        _ = rig.call.deviceChanged(.callee, .channelsOpen(false), at: rig.clock.now)
        rig.clock.advance(by: .seconds(60))
        rig.call.heard(from: .callee, at: rig.clock.now)
        #expect(rig.call.nextDeadline == Deadline(rig.clock.now + .seconds(90), .silence(.callee)))
        rig.clock.advance(by: .seconds(90))
        #expect(
            rig.call.timeout(at: rig.clock.now).traces == [
                "release", "a1 callEnd 480 Client is gone", "bob1 callEnd 480 Client is gone", "ended",
            ])
    }

    @Test func `a channel that opens again in time saves the call`() throws {
        var rig = try MidCallRig()
        _ = rig.call.deviceChanged(.caller, .channelsOpen(false), at: rig.clock.now)
        rig.clock.advance(by: .seconds(80))
        _ = rig.call.deviceChanged(.caller, .channelsOpen(true), at: rig.clock.now)
        #expect(rig.call.nextDeadline == nil)
        rig.clock.advance(by: .seconds(600))
        #expect(rig.call.timeout(at: rig.clock.now) == [])
    }

    // MARK: Audits that stop

    /// A call between devices a1 and a2 of Alice and b1 and b2 of Bob, while it rings. Media goes from peer to peer.
    private func ringing(clientTimeout: Duration? = .seconds(90)) throws -> Call {
        let parties = PerLeg(
            caller: CallParty(user: CallRig.alice, name: "Alice", session: "A", devices: [Device("a1"), Device("a2")]),
            callee: CallParty(user: CallRig.bob, name: "Bob", session: "B", devices: [Device("b1"), Device("b2")]))
        var call = Call(
            id: CallID(7), parties: parties, configuration: Call.Configuration(clientTimeout: clientTimeout))
        var random = SeededRandomSource(seed: 1)
        var start = CallStartRequest(callee: CallRig.bob, sdp: "offer")
        start.device = "a1"
        _ = try call.start(start, media: .direct, at: .zero, random: &random)
        return call
    }

    private func answered(by device: SubscriptionID = "b1", _ call: Call) throws -> Call {
        var call = call
        var random = SeededRandomSource(seed: 1)
        _ = try call.answer(
            by: .callee, CallAnswerRequest(sdp: "answer"), from: device, at: .zero, random: &random)
        return call
    }

    /// At so many seconds after the beginning of time.
    private func audit(_ call: inout Call, by leg: LegID, at seconds: Int...) throws {
        for second in seconds {
            call.heard(from: leg, at: time(second))
            try call.audit(by: leg, at: time(second))
        }
    }

    private func time(_ seconds: Int) -> MonotonicTime { .zero + .seconds(seconds) }

    private func silence(_ leg: LegID, at seconds: Int) -> Deadline<Call.Timer> {
        Deadline(time(seconds), .silence(leg))
    }

    @Test func `a client that audited and stops is missed although its channel is open`() throws {
        var call = try answered(ringing())
        try audit(&call, by: .callee, at: 0, 25, 50)
        #expect(call.nextDeadline == silence(.callee, at: 140))
        #expect(call.timeout(at: time(139)) == [])
        let ended = call.timeout(at: time(140)).traces
        #expect(ended == ["a1 callEnd 480 Client is gone", "b1 callEnd 480 Client is gone", "ended"])
    }

    @Test func `any request of an end that audits counts, and none of the other end`() throws {
        var call = try answered(ringing())
        try audit(&call, by: .callee, at: 0, 25)
        call.heard(from: .callee, at: time(60))
        call.heard(from: .caller, at: time(100))
        #expect(call.nextDeadline == silence(.callee, at: 150))
    }

    @Test func `who audits rarely may be silent for twice its interval`() throws {
        var call = try answered(ringing())
        try audit(&call, by: .caller, at: 0, 80, 90)
        #expect(call.nextDeadline == silence(.caller, at: 250))
    }

    @Test func `who asks once and never again is not missed`() throws {
        var call = try answered(ringing())
        try audit(&call, by: .caller, at: 0)
        #expect(call.nextDeadline == nil)
    }

    @Test func `where nobody is given up, nobody is missed`() throws {
        var call = try answered(ringing(clientTimeout: nil))
        try audit(&call, by: .caller, at: 0, 25, 50)
        #expect(call.nextDeadline == nil)
    }

    @Test func `audits before the answer count for the device that answers only if it was alone`() throws {
        var call = try ringing()
        try audit(&call, by: .caller, at: 0, 25)
        #expect(try answered(call).nextDeadline == silence(.caller, at: 115))

        var elsewhere = try ringing()
        try audit(&elsewhere, by: .callee, at: 0, 25)
        #expect(try answered(by: "b2", elsewhere).nextDeadline == nil)
    }

    @Test func `a device that takes the call over need not audit`() throws {
        var call = try answered(ringing())
        var random = SeededRandomSource(seed: 2)
        try audit(&call, by: .caller, at: 0, 25)
        let expected: [(SubscriptionID, Deadline<Call.Timer>?)] = [("a1", silence(.caller, at: 115)), ("a2", nil)]
        for (device, deadline) in expected {
            let request = CallUpdateRequest(sdp: "offer of \(device.rawValue)")
            _ = try call.offer(by: .caller, request, from: Device(device), at: time(30), random: &random)
            _ = try call.respond(by: .callee, CallUpdateRequest(sdp: "answer"), at: time(30), random: &random)
            #expect(call.nextDeadline == deadline)
        }
    }

    @Test func `a client whose call changes hands is missed in the other call`() throws {
        var (kept, given) = (try MidCallRig(id: 1), try MidCallRig(id: 2, bob: MidCallRig.carol, session: "C"))
        try audit(&given.call, by: .callee, at: 0, 25)
        _ = try kept.call.consult(
            by: .caller, with: MidCallRig.carol, in: CallID(2), at: time(30), random: &kept.random)
        let offered = given.call.handoverRequested(by: CallID(1), of: .caller, at: time(30), random: &given.random)
        guard case .peerCall(.offerHandover(_, let handover))? = offered.first else {
            Issue.record("nothing was handed over: \(offered.traces)")
            return
        }
        _ = kept.call.handoverOffered(handover, at: time(30), random: &kept.random)
        // Nobody answers anything any more.
        var last: Call.Timer?
        while let next = kept.call.nextDeadline {
            last = next.reason
            _ = kept.call.timeout(at: next.time)
        }
        #expect(last == .silence(LegID(2)))
    }
}
