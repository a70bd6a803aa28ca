import CallControl
import CallSupport
import Testing

/// Every interleaving of what parties do of which some are applications, with headless legs: they are legs as any
/// other.
struct HeadlessExplorationTests {
    private static let dave = LegID(2)

    /// Who is an application, and whether the caller makes an offer.
    private static let beginnings: [(applications: Set<LegID>, hasOffer: Bool)] = [
        ([.callee], true), ([.callee], false), ([.callee, dave], true), ([.caller], true), ([.caller, dave], true),
        ([dave], true), ([.caller, .callee], true), ([.caller, .callee, dave], true),
    ]

    /// A callee that is an application rings, is heard before the answer, answers, declines and forwards; one that
    /// calls hears that, and hangs up. Requests and answers of the devices get lost, and what they are told is late.
    @Test func `applications know at any time what becomes of a call until it is answered or over`() throws {
        var walks: [Exploration] = []
        for (applications, hasOffer) in Self.beginnings {
            let start = DeviceExplorer(withOffer: hasOffer, applications: applications)
            let walk = try Exploration(of: [start])
            print("until the answer, \(applications.sorted()) headless, \(hasOffer ? "an" : "no") offer: \(walk)")
            #expect(walk.states > 10)
            #expect(walk.open == 0)
            walks.append(walk)
        }
        #expect(walks.map(\.states).reduce(0, +) > 1_000)
        let stale = try ExplorationTable.fault(in: "until the answer, with applications", walks)
        #expect(stale == nil)
    }

    /// What the walks above have to come to: the caller hears an application before the answer, is forwarded, and
    /// hears the next one.
    @Test(arguments: [[.callee, LegID(2)], [.caller, .callee, LegID(2)]] as [Set<LegID>])
    func `a caller hears one application after the other before the answer`(_ applications: Set<LegID>) throws {
        var walk = DeviceExplorer(applications: applications)
        for (step, hears) in [
            (.request("a1", .start, .arrives), false), (.request("b1", .progress, .arrives), true),
            (.request("b1", .forward, .arrives), false), (.request("d1", .progress, .arrives), true),
            (.request("d1", .answer, .arrives), true),
        ] as [(DeviceExplorer.Step, Bool)] {
            let isTaken = try walk.take(step)
            #expect(isTaken)
            try walk.check()
            #expect(walk.routed.isEmpty == !hears)
        }
        #expect(walk.call.legState(Self.dave) == .inCall)
        #expect(walk.routed == [.caller, Self.dave])
    }

    private static let all = CallExplorer.callers.union([CallExplorer.bob, CallExplorer.carol, CallExplorer.dave])

    /// More steps than any of the walks takes to its end.
    private static let limit = 60

    private static let courses: [Set<SessionID>] = [
        [CallExplorer.bob], [CallExplorer.bob, CallExplorer.dave], [CallExplorer.bob, CallExplorer.carol],
        CallExplorer.callers.union([CallExplorer.bob]), all,
    ]

    /// Those whom Alice has called are applications, which hold, resume, hang up, and transfer her or each other; the
    /// target refuses as well. Alice does all that callers do, and is an application in some of the courses.
    ///
    /// These walks come to an end because a leg leaves once. An application whose part of a call is done may end it
    /// again and again while the legs of that call are handed over (Bob transfers Alice to Dave, and she joins her
    /// calls). What it asks for waits until the other call has decided. If each request waited as one more event
    /// (`Call.HandoverOffer.postpone`), the call would grow with it, and each length would be a state of its own.
    /// Nothing else grows: legs get numbers by requests and handovers only, and a handover is requested, offered and
    /// taken once, or declined. A walk that goes on for ever fails at the limit of steps.
    @Test func `applications that were called do all that callers do, and lead nobody astray`() throws {
        var walks: [Exploration] = []
        for applications in Self.courses {
            let start = try CallExplorer(
                [.meeting, .leaving, .transferring, .commanding, .serving], alice: .inactive, others: .sendOnly,
                applications: applications, requests: 2)
            let walk = try Exploration(of: [start], depth: Self.limit)
            print("two calls, \(applications.map(\.rawValue).sorted().joined(separator: ", ")) headless: \(walk)")
            #expect(walk.states > 1_000)
            #expect(walk.open == 0)
            walks.append(walk)
        }
        #expect(walks.map(\.states).reduce(0, +) > 5_000)
        let stale = try ExplorationTable.fault(in: "two calls, with applications that were called", walks)
        #expect(stale == nil)
    }

    /// What tells the walks above apart from endless ones: Bob, whose part is done, asks for its end many times while
    /// Alice's conference waits for the legs of his call.
    @Test func `an application that ends its part again during a handover changes nothing`() throws {
        let prepared: [CallExplorer.Step] = [.hand("B"), .accept("D"), .answer("A1"), .join, .deliver(0), .finish("B")]
        let once = try walk(prepared)
        #expect(once.world.calls[CallExplorer.toBob]?.isHandingOver == true)
        let often = try walk(prepared + [.finish("B"), .finish("B"), .finish("B")])
        #expect(often.key == once.key)
        let isSame = often.world.calls[CallExplorer.toBob] == once.world.calls[CallExplorer.toBob]
        #expect(isSame)
    }

    private func walk(_ prepared: [CallExplorer.Step]) throws -> CallExplorer {
        try CallExplorer(
            [.meeting, .leaving, .transferring, .commanding, .serving], alice: .inactive, others: .sendOnly,
            applications: [CallExplorer.bob, CallExplorer.dave], prepared: prepared)
    }

    /// What the walks above have to come to.
    @Test func `an application that was called transfers its caller, and has done its part`() throws {
        let walk = try CallExplorer(
            [.leaving, .transferring, .serving], alice: .inactive, others: .sendOnly,
            applications: [CallExplorer.bob, CallExplorer.dave],
            prepared: [
                .hand("B"), .decline("D"), .hand("B"), .accept("D"), .answer("A1"), .finish("B"),
            ])
        #expect(walk.isQuiet)
        let legs = walk.world.calls[CallExplorer.toBob]?.legs.map(\.party.session)
        #expect(legs.map(Set.init) == ["A1", "D"])
    }

    /// Carol is asked to take a call with Bob in place of the one that she has with Alice, who may be an application.
    /// She accepts, declines or says nothing, among holds, ends, and a join. Where Bob or Carol is an application,
    /// which never lists `replacecall`, Carol's leg changes calls instead.
    @Test(arguments: [[], CallExplorer.callers, [CallExplorer.bob], [CallExplorer.carol]] as [Set<SessionID>])
    func `calls are replaced between clients only, whoever asks for it`(_ applications: Set<SessionID>) throws {
        let start = try CallExplorer(
            [.meeting, .leaving, .commanding, .replacing], alice: .inactive, others: .sendOnly,
            applications: applications, requests: 2)
        var isAsked = false
        let walk = try Exploration(of: [start], depth: Self.limit) { _, _, after in
            if after.clients[CallExplorer.replacement] != nil { isAsked = true }
        }
        print("call replace, \(applications.map(\.rawValue).sorted().joined(separator: ", ")) headless: \(walk)")
        #expect(walk.states > 100)
        #expect(walk.open == 0)
        #expect(isAsked == applications.isDisjoint(with: [CallExplorer.bob, CallExplorer.carol]))
    }

    /// What the walks above have to come to.
    @Test func `an application brings clients together, and one of them replaces the call that it has`() throws {
        let replaced = try replacing(
            CallExplorer.callers,
            after: [
                .consult, .pickUp(CallExplorer.replacement, isFilming: false), .deliver(0), .answer("B"), .finish("A1"),
            ])
        #expect(replaced.world.ended == [CallExplorer.toCarol])
        #expect(replaced.world.calls[CallExplorer.toBob]?.legs.map(\.party.session) == ["B", "C2"])

        let declined = try replacing(CallExplorer.callers, after: [.consult, .decline(CallExplorer.replacement)])
        #expect(declined.world.ended.isEmpty)
        #expect(declined.world.calls[CallExplorer.toBob]?.legs.map(\.party.session) == ["A1", "B"])
        #expect(declined.world.calls[CallExplorer.toCarol]?.legs.map(\.party.session) == ["A2", "C"])
    }

    @Test(arguments: [CallExplorer.bob, CallExplorer.carol])
    func `the leg of the second call changes calls where one of the two is an application`(
        _ application: SessionID
    ) throws {
        let walk = try replacing([application], after: [.consult, .deliver(0), .deliver(0), .deliver(0)])
        #expect(walk.world.ended == [CallExplorer.toCarol])
        #expect(walk.world.calls[CallExplorer.toBob]?.legs.map(\.party.session) == ["A1", "B", "C"])
    }

    private func replacing(
        _ applications: Set<SessionID>, after prepared: [CallExplorer.Step]
    ) throws -> CallExplorer {
        try CallExplorer(
            [.meeting, .leaving, .commanding, .replacing], alice: .inactive, others: .sendOnly,
            applications: applications, prepared: prepared)
    }

    @Test func `a conference of applications goes on until two are left`() throws {
        let walk = try CallExplorer(
            [.meeting, .leaving, .transferring, .commanding, .serving], alice: .inactive, others: .inactive,
            applications: Self.all,
            prepared: [.join] + [CallExplorer.Step](repeating: .deliver(0), count: 6) + [
                .finish("A1"), .finish("A2"), .command("B"), .command("B"), .end("B"), .end("A3"),
            ])
        #expect(walk.world.ended.contains(CallExplorer.conference))
        #expect(walk.world.headless[CallExplorer.conference] == nil)
    }
}
