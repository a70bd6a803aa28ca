import CallControl
import CallSupport
import Primitives
import TestSupport
import Testing

/// The operations of a call, and a conference that is being joined, each as a value by itself.
struct OperationTests {
    private static let (first, second, third) = (CallID(1), CallID(2), CallID(3))
    private static let target = LegID(3)
    private static let now = VirtualClock().now

    /// What Alice's call with another user offers: that user's leg.
    private func handover(
        from call: CallID, keeper: UserAddress = MidCallRig.alice, legs: Int = 1
    ) throws -> Handover {
        let others = try MidCallRig(id: call.rawValue).call.legs.filter { $0.id != .caller }
        return Handover(from: call, legs: Array(repeating: others[0], count: legs), keeper: keeper)
    }

    // MARK: The call that gives legs away

    @Test func `what happens to legs that were taken goes with them, and the rest stays`() {
        var offer = Call.HandoverOffer(to: Self.third, keeper: .caller)
        let hangsUp = LegEvent.ended(from: "bob1", reasonText: "bye")
        offer.postpone(.clientLost, of: Self.target)
        offer.postpone(.subscriptionEnded, of: .caller)
        offer.postpone(hangsUp, of: .callee)
        let (bob, carol) = (
            HandedOverLeg(before: .callee, after: LegID(8), session: "B"),
            HandedOverLeg(before: Self.target, after: LegID(9), session: "C")
        )
        #expect(
            offer.passedOn(with: [bob, carol]) == [
                .passOn(Self.third, LegID(9), .clientLost), .passOn(Self.third, LegID(8), hangsUp),
            ])
        #expect(offer.passedOn(with: [bob]) == [.passOn(Self.third, LegID(8), hangsUp)])
        #expect(
            offer.remaining(after: [bob, carol]) == [Call.Deferred(leg: .caller, event: .subscriptionEnded)])
        #expect(offer.remaining(after: [bob]).first == Call.Deferred(leg: Self.target, event: .clientLost))
        // Declined, the call handles all of it in the order in which it came.
        #expect(offer.deferred.map(\.leg) == [Self.target, .caller, .callee])
    }

    @Test func `a leg leaves once, whatever happens to it during a handover`() {
        var offer = Call.HandoverOffer(to: Self.third, keeper: .caller)
        let hangsUp = LegEvent.ended(from: "bob1", reasonText: "bye")
        for event in [hangsUp, hangsUp, .clientLost, .replaced] as [LegEvent] {
            offer.postpone(event, of: .callee)
        }
        #expect(offer.deferred == [Call.Deferred(leg: .callee, event: hangsUp)])
        // A replacement means nothing to a leg whose part is done by then, which still has to leave.
        for event in [.replaced, .replaced, hangsUp, .clientLost] as [LegEvent] {
            offer.postpone(event, of: .caller)
        }
        #expect(
            offer.remaining(after: [HandedOverLeg(before: .callee, after: LegID(8), session: "B")]) == [
                Call.Deferred(leg: .caller, event: .replaced), Call.Deferred(leg: .caller, event: hangsUp),
            ])
    }

    @Test func `only the taker decides, and is told if there is nothing left to decide`() {
        let offer = Call.HandoverOffer(to: Self.third, keeper: .caller)
        #expect(offer.awaits(Self.third))
        #expect(!offer.awaits(Self.second))
        #expect(offer.remaining(after: []).isEmpty)
        #expect(offer.withdrawal == .refuseHandover(to: Self.third))
    }

    // MARK: The call that takes legs

    @Test func `a consultation accepts the one leg that it asked for`() throws {
        let consultation = Call.Consultation(transferor: .caller, other: Self.second, deadline: Self.now)
        let alice = MidCallRig.alice
        #expect(consultation.accepts(try handover(from: Self.second), keeper: alice))
        #expect(!consultation.accepts(try handover(from: Self.third), keeper: alice), "another call")
        #expect(!consultation.accepts(try handover(from: Self.second, keeper: MidCallRig.bob), keeper: alice))
        #expect(!consultation.accepts(try handover(from: Self.second), keeper: nil), "the transferor has left")
        #expect(!consultation.accepts(try handover(from: Self.second, legs: 2), keeper: alice), "a conference")
        #expect(!consultation.accepts(try handover(from: Self.second, legs: 0), keeper: alice))
        #expect(consultation.isRepeated(by: .caller, with: Self.second))
        #expect(!consultation.isRepeated(by: .callee, with: Self.second))
        #expect(!consultation.isRepeated(by: .caller, with: Self.third))
        #expect(consultation.withdrawal == .declineHandover(Self.second))
    }

    @Test func `a joining is complete when both calls have offered their legs`() throws {
        var joining = joining()
        let alice = MidCallRig.alice
        #expect(joining.receive(try handover(from: Self.second), keeper: alice) == .waiting)
        #expect(joining.receive(try handover(from: Self.third), keeper: alice) == .declined)
        #expect(joining.receive(try handover(from: Self.first, keeper: MidCallRig.bob), keeper: alice) == .declined)
        #expect(joining.receive(try handover(from: Self.first), keeper: nil) == .declined)
        #expect(joining.receive(try handover(from: Self.first), keeper: alice) == .complete)
        #expect(joining.received.map(\.from) == [Self.second, Self.first])
    }

    @Test func `a joining that receives the same offer twice still waits for the other call`() throws {
        var joining = joining()
        let alice = MidCallRig.alice
        #expect(joining.receive(try handover(from: Self.second), keeper: alice) == .waiting)
        #expect(joining.receive(try handover(from: Self.second), keeper: alice) == .waiting)
        #expect(joining.received.map(\.from) == [Self.second])
        #expect(joining.receive(try handover(from: Self.first), keeper: alice) == .complete)
        #expect(joining.received.map(\.from) == [Self.second, Self.first])
    }

    @Test func `a joining that ends declines what has been offered and what may be yet`() throws {
        var joining = joining()
        _ = joining.receive(try handover(from: Self.second), keeper: MidCallRig.alice)
        #expect(joining.withdrawals == [.declineHandover(Self.first), .declineHandover(Self.second)])
        #expect(joining.asks(Self.first) && joining.asks(Self.second) && !joining.asks(Self.third))
    }

    @Test func `what asks at an address of its own in the other call is offered the legs there`() throws {
        let (alice, bob) = (MidCallRig.alice, MidCallRig.bob)
        let consultation = Call.Consultation(
            transferor: .caller, other: Self.second, keeper: bob, deadline: Self.now)
        #expect(consultation.accepts(try handover(from: Self.second, keeper: bob), keeper: alice))
        #expect(!consultation.accepts(try handover(from: Self.second), keeper: alice), "the address is another")
        #expect(!consultation.accepts(try handover(from: Self.second, keeper: bob), keeper: nil))
        var joining = Call.Joining(
            startedAt: Self.now, calls: [Self.first, Self.second, Self.third], keepers: [Self.second: bob],
            content: CustomContent(), deadline: Self.now + .seconds(30))
        #expect(joining.receive(try handover(from: Self.second), keeper: alice) == .declined)
        #expect(joining.receive(try handover(from: Self.second, keeper: bob), keeper: alice) == .waiting)
        #expect(joining.receive(try handover(from: Self.third), keeper: nil) == .declined)
        #expect(joining.receive(try handover(from: Self.third), keeper: alice) == .waiting, "three calls or more")
        #expect(joining.receive(try handover(from: Self.first), keeper: alice) == .complete)
    }

    private func joining() -> Call.Joining {
        Call.Joining(
            startedAt: Self.now, calls: [Self.first, Self.second], content: CustomContent(),
            deadline: Self.now + .seconds(30))
    }

    // MARK: A target that is rung, or replaces a call

    @Test func `only a device that has the call is asked to replace it`() {
        let ringing = transfer()
        #expect(ringing.rings && !ringing.asksToReplace(Self.target))
        #expect(ringing.invitation(forDeviceThatWasTold: false)?.description == "v=0")
        #expect(ringing.replacement == nil)

        let replacing = transfer(replacing: ReplacedCall(call: Self.second, keeper: .callee, session: "C"))
        #expect(!replacing.rings && replacing.asksToReplace(Self.target) && !replacing.asksToReplace(.callee))
        #expect(replacing.invitation(forDeviceThatWasTold: false) == nil)
        #expect(replacing.invitation(forDeviceThatWasTold: true)?.replaces == "C")
        #expect(replacing.replacement == .passOn(Self.second, .callee, .replaced))
    }

    @Test func `a transfer is repeated by the same leg for the same target`() {
        let ringing = transfer()
        #expect(ringing.isRepeated(by: .caller, to: MidCallRig.carol))
        #expect(!ringing.isRepeated(by: .callee, to: MidCallRig.carol))
        #expect(!ringing.isRepeated(by: .caller, to: MidCallRig.bob))
        #expect(!ringing.isRepeated(by: .caller, replacing: Self.second))

        let replacing = transfer(replacing: ReplacedCall(call: Self.second, keeper: .callee, session: "C"))
        #expect(replacing.isRepeated(by: .caller, replacing: Self.second))
        #expect(!replacing.isRepeated(by: .callee, replacing: Self.second))
        #expect(!replacing.isRepeated(by: .caller, replacing: Self.third))
    }

    private func transfer(replacing replaced: ReplacedCall? = nil) -> Call.Transfer {
        let party = CallParty(user: MidCallRig.carol, name: "Carol", session: "C2", devices: [Device("carol1")])
        return Call.Transfer(
            of: .callee, by: .caller,
            to: CallTarget(leg: Self.target, party: party, identity: nil, replacing: replaced), offering: "v=0",
            at: Self.now, configuration: Call.Configuration())
    }
}
