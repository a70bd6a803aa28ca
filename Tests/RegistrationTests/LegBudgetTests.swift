import CallControl
import CallSupport
import Primitives
import Registration
import TestSupport
import Testing

/// How many legs a user may have, how many of them may ring, and how often the user may begin calls.
struct LegBudgetTests {
    private static let callers = ["joe", "eve", "bob", "sue"].map { UserAddress(parsing: "\($0)@example.com")! }

    private func rig(
        legs: Int = 20, ringing: Int = 4, rate: RateAllowance.Rate = .init(burst: 2, interval: .seconds(1))
    ) throws -> RegistrationRig {
        var rig = RegistrationRig(
            Registration.Configuration(maximumLegs: legs, maximumRinging: ringing, callRate: rate))
        try rig.subscribe()
        return rig
    }

    /// Whether one more call came in.
    private func ring(_ rig: inout RegistrationRig, _ number: Int, by caller: UserAddress) -> Bool {
        let attachment = LegAddress(call: CallID(UInt64(number)), leg: .callee)
        return !rig.registration.attach(SessionID("B\(number)"), to: attachment, as: .rung(by: caller)).isEmpty
    }

    @Test func `nothing more than allowed rings, and one caller makes half of it ring at most`() throws {
        var rig = try rig()
        #expect((1...4).map { ring(&rig, $0, by: Self.callers[0]) } == [true, true, false, false])
        #expect(rig.registration.refusal(as: .rung(by: Self.callers[0])) == .limitOfRinging)
        #expect(rig.registration.refusal(as: .rung(by: Self.callers[1])) == nil)
        #expect((5...7).map { ring(&rig, $0, by: Self.callers[$0 - 4]) } == [true, true, false])
        // Whatever the user dials itself is none of it.
        #expect(rig.registration.refusal(as: .own) == nil)
        rig.registration.answered("B1")
        rig.registration.answered("B1")
        #expect(ring(&rig, 8, by: Self.callers[0]))
        #expect(!ring(&rig, 9, by: Self.callers[3]))
        for session in ["B1", "B2", "B5"] as [SessionID] { rig.registration.detach(session) }
        #expect((10...12).map { ring(&rig, $0, by: Self.callers[3]) } == [true, true, false])
    }

    @Test func `guests count as one caller, whatever they call themselves`() throws {
        var rig = try rig()
        var random = SeededRandomSource(seed: 1)
        let guests = (0..<4).map { _ in UserAddress(GuestID(random: &random)) }
        #expect(guests.enumerated().map { ring(&rig, $0, by: $1) } == [true, true, false, false])
        #expect(ring(&rig, 5, by: Self.callers[0]))
    }

    @Test func `one call at a time can ring where one is allowed`() throws {
        var rig = try rig(ringing: 1)
        #expect((1...2).map { ring(&rig, $0, by: Self.callers[$0]) } == [true, false])
        rig.registration.detach("B1")
        #expect(ring(&rig, 3, by: Self.callers[2]))
    }

    @Test func `a user has so many legs, and one that changes calls is not one more`() throws {
        var rig = try rig(legs: 2, ringing: 2)
        #expect(ring(&rig, 1, by: Self.callers[0]))
        #expect(!rig.registration.attach("A2", to: .init(call: CallID(2), leg: .caller)).isEmpty)
        for role in [.own, .rung(by: Self.callers[1])] as [LegRole] {
            #expect(rig.registration.refusal(as: role) == .limitOfLegs)
        }
        #expect(!ring(&rig, 3, by: Self.callers[1]))
        #expect(rig.registration.refusal(of: "B1", as: .own) == nil)
        #expect(!rig.registration.attach("B1", to: .init(call: CallID(2), leg: LegID(2))).isEmpty)
        rig.registration.detach("A2")
        #expect(ring(&rig, 4, by: Self.callers[0]), "what changes calls has been answered")
    }

    @Test func `without a device nothing rings and nothing is dialled`() {
        let rig = RegistrationRig()
        for role in [.own, .rung(by: Self.callers[0])] as [LegRole] {
            #expect(rig.registration.refusal(as: role) == .noDevice)
        }
    }

    @Test func `who has started too many calls waits, and is not rid of it by leaving`() throws {
        var rig = try rig()
        for _ in 0..<2 { try rig.registration.chargeCall(at: rig.now.monotonic) }
        #expect(throws: LegRefusal.tooOften(retryAfter: .seconds(1))) {
            try rig.registration.chargeCall(at: rig.now.monotonic)
        }
        #expect(rig.registration.nextDeadline?.reason == .reminder, "who is there need not be looked after")
        _ = try rig.registration.unsubscribe("s1", at: rig.now)
        #expect(!rig.registration.isIdle)
        #expect(rig.registration.nextDeadline?.reason == .callRate)
        try rig.subscribe()
        #expect(throws: LegRefusal.tooOften(retryAfter: .seconds(1))) {
            try rig.registration.chargeCall(at: rig.now.monotonic)
        }
        _ = try rig.registration.unsubscribe("s2", at: rig.now)
        _ = rig.advance(by: .seconds(2))
        #expect(rig.registration.isIdle)
        #expect(rig.registration.nextDeadline == nil)
    }
}
