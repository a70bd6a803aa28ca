import CallControl
import CallSupport
import Primitives
import SDP
import SPiDR
import TestSupport
import Testing

/// What a user's other devices ask of a call that one of them has (spidr-wire §1.2, §6.7).
struct OtherDeviceTests {
    /// Alice's devices are a1 and a2, Bob's b1 and b2. `caller` and `callee` are those that have the call, if they said
    /// so.
    private func answered(caller: SubscriptionID? = nil, callee: SubscriptionID? = nil) throws -> Call {
        let parties = PerLeg(
            caller: CallParty(user: CallRig.alice, name: "Alice", session: "A", devices: [Device("a1"), Device("a2")]),
            callee: CallParty(user: CallRig.bob, name: "Bob", session: "B", devices: [CallRig.silent, CallRig.plain]))
        var call = Call(id: CallID(7), parties: parties)
        var random = SeededRandomSource(seed: 1)
        var start = CallStartRequest(callee: CallRig.bob, sdp: "offer")
        start.device = caller
        _ = try call.start(start, media: .direct, at: .zero, random: &random)
        _ = try call.answer(
            by: .callee, CallAnswerRequest(sdp: "answer"), from: callee, at: .zero, random: &random)
        return call
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var has: SubscriptionID?
        var leg: LegID
        var asks: SubscriptionID?
        var told: [String]
        init(_ leg: LegID, has: SubscriptionID?, asks: SubscriptionID?, _ told: [String]) {
            (self.leg, self.has, self.asks, self.told) = (leg, has, asks, told)
        }
        var testDescription: String { "\(leg) has it on \(has?.rawValue ?? "?"), \(asks?.rawValue ?? "?") hangs up" }
    }

    @Test(arguments: [
        // The device that has the call hangs up: nobody else has anything to learn.
        Row(.caller, has: "a1", asks: "a1", ["b1+b2 callEnd bye"]),
        Row(.callee, has: "b2", asks: "b2", ["a1+a2 callEnd bye"]),
        // Another one does.
        Row(.caller, has: "a1", asks: "a2", ["a1 callEnd bye", "b1+b2 callEnd bye"]),
        Row(.callee, has: "b2", asks: "b1", ["a1+a2 callEnd bye", "b2 callEnd bye"]),
        // Something that is none of the devices does.
        Row(.caller, has: "a1", asks: nil, ["a1 callEnd bye", "b1+b2 callEnd bye"]),
        Row(.callee, has: "b2", asks: "b9", ["a1+a2 callEnd bye", "b2 callEnd bye"]),
        // Nobody has said which has the call.
        Row(.caller, has: nil, asks: "a2", ["a1 callEnd bye", "b1+b2 callEnd bye"]),
        Row(.caller, has: nil, asks: nil, ["a1+a2 callEnd bye", "b1+b2 callEnd bye"]),
        Row(.callee, has: nil, asks: "b1", ["a1+a2 callEnd bye", "b2 callEnd bye"]),
    ])
    func `whoever may have the call is told that another device has ended it`(_ row: Row) throws {
        var call = try answered(caller: row.leg == .caller ? row.has : nil, callee: row.leg == .callee ? row.has : nil)
        let actions = try call.end(by: row.leg, from: row.asks, reasonText: "bye", at: .zero)
        #expect(actions.traces == row.told + ["ended"])
        for told in actions.told {
            #expect(told.notification.cause == "normal_clearing")
            #expect(told.notification.endedBy == (told.leg == row.leg ? .own : .peer))
        }
    }

    @Test func `before the answer all devices are told of the end as ever`() throws {
        for (leg, told) in [(LegID.caller, "b1+b2 callEnd 487 Caller hung up"), (.callee, "b1+b2 callCancel")] {
            var rig = CallRig()
            _ = try rig.start()
            #expect(try rig.call.end(by: leg, from: nil, reasonText: nil, at: rig.clock.now).traces.contains(told))
        }
    }

    @Test func `an end that waits for a handover is told to the other devices once it is decided`() throws {
        var rig = try MidCallRig()
        _ = rig.call.deviceChanged(.callee, .joined(Device("bob2"), replacing: "bob1"), at: rig.clock.now)
        _ = rig.call.handoverRequested(by: CallID(9), of: .caller, at: rig.clock.now, random: &rig.random)
        #expect(try rig.call.end(by: .callee, from: "elsewhere", reasonText: "bye", at: rig.clock.now).isEmpty)
        let told = rig.call.handoverDeclined(by: CallID(9), at: rig.clock.now, random: &rig.random).traces
        #expect(told.contains("bob2 callEnd bye") && told.contains("a1 callEnd bye"))
    }

    @Test func `who leaves a conference on another device is told, and the rest go on`() throws {
        var world = try CallWorld.joined()
        try world.act(CallID(3)) { call, _, now throws(CallError) in
            try call.end(by: LegID(2), from: "elsewhere", reasonText: "off", at: now)
        }
        #expect(world.log("bob1").last == "callEnd off")
        #expect(world.log("carol1") == ["startCallUpdate"])
        #expect(!world.ended.contains(CallID(3)))
    }

    @Test func `who has had the call learns that another device goes on with it`() throws {
        var rig = try MidCallRig()
        let hold = CallUpdateRequest(sdp: rig.next("caller2", .inactive).replacing("AB:AB", with: "CD:CD"))
        let moved = try rig.call.offer(by: .caller, hold, from: Device("a2"), at: rig.clock.now, random: &rig.random)
        #expect(moved.traces == ["a1 callEnd Continued on another device", "bob1 startCallUpdate"])
        let last = try #require(moved.told.first).notification
        #expect(last.cause == "continued_elsewhere" && last.endedBy == .own)
        // The same device again takes nothing from anybody.
        rig.note(moved)
        #expect(try rig.answer(by: .callee).traces.last == "a2 respondCallUpdate")
        let resume = CallUpdateRequest(sdp: rig.next("caller2", .sendReceive).replacing("AB:AB", with: "CD:CD"))
        #expect(
            try rig.call.offer(by: .caller, resume, from: Device("a2"), at: rig.clock.now, random: &rig.random).traces
                == ["bob1 startCallUpdate"])
    }

    @Test func `a device that cannot take the call, because its offer is of no use, takes it from nobody`() throws {
        var rig = try MidCallRig()
        let before = rig.call
        #expect(throws: CallError.self) {
            _ = try rig.call.offer(
                by: .caller, CallUpdateRequest(sdp: "v=0"), from: Device("a2"), at: rig.clock.now, random: &rig.random)
        }
        #expect(rig.call == before)
    }

    @Test func `only a device that was told of an offer may answer it`() throws {
        var rig = try MidCallRig()
        _ = try rig.offer(by: .caller, .inactive)
        #expect(
            throws: CallError.notAllowed(.respond, .deviceWithoutCall(.inCall))
        ) {
            try rig.call.checkAnswers(for: .callee, from: "bob2")
        }
        try rig.call.checkAnswers(for: .callee, from: "bob1")
        try rig.call.checkAnswers(for: .callee, from: nil)
    }
}
