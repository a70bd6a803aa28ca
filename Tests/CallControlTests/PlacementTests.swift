import CallControl
import CallSupport
import SDP
import Testing

/// Placements, fed with every sequence of replies that owners can give.
struct PlacementTests {
    private static let alice = UserAddress(parsing: "alice@example.com")!
    private static let bob = UserAddress(parsing: "bob@example.com")!
    private static let call = CallID(1)
    private static let own = LegAddress(call: CallID(2), leg: .caller)
    private static let other = LegAddress(call: CallID(3), leg: .callee)
    private static let device = Device("b1")
    private static let known = CallParty(user: bob, name: "Bob", session: "B", devices: [device])

    /// What a placement of this kind must keep to.
    enum Kind: String, CaseIterable, Sendable {
        case call
        case announcedCall
        case conference
        case transfer
        case forward
        case consultation
        case audit
        case playback
        case application
        case connection
        case connected
        case started
        case announcedStart
        case bridged
        case joined

        /// Whether a new call is placed.
        var opensCall: Bool {
            [.call, .announcedCall, .conference, .connection, .started, .announcedStart, .joined].contains(self)
        }
        /// What a run can come to. Repetitions of commands are known by the call.
        var outcomes: Set<String> {
            switch self {
            case .call, .announcedCall, .conference, .transfer, .forward, .consultation:
                ["placed", "repeated", "failed"]
            case .connected, .bridged: ["placed", "repeated", "failed"]
            case .audit, .playback, .application, .connection, .started, .announcedStart, .joined:
                ["placed", "failed"]
            }
        }
    }

    private func placement(_ kind: Kind) -> any Placement {
        switch kind {
        case .call, .announcedCall:
            CallPlacement(
                CallStartRequest(
                    callee: Self.bob, sdp: "a=ice-pwd:x", acceptsEarlyMedia: kind == .announcedCall),
                by: Self.alice, in: Self.call, sessions: PerLeg(caller: "A", callee: "B"), rejectsBusy: true,
                earlyMedia: Playback(.file("welcome.wav")))
        case .conference:
            ConferencePlacement(
                of: ("one", "two"), CallUpdateRequest(sdp: "a=ice-pwd:x"), by: Self.alice, from: nil, in: Self.call,
                session: "A")
        case .transfer, .forward:
            TargetPlacement(
                kind == .transfer ? .transfer : .forward, of: "A", by: Self.alice, to: Self.bob, as: "T",
                rejectsBusy: true)
        case .consultation:
            ConsultationPlacement(of: "A", with: "C", address: Self.bob, by: Self.alice, token: "T")
        case .audit: CommandPlacement(.audit, in: "A", by: Self.alice, from: nil, outlivesCall: true)
        case .playback:
            CommandPlacement(.play(Playback(.file("welcome.wav")), to: .peer), in: "A", by: Self.alice, from: "a1")
        case .connection:
            ConnectionPlacement(
                to: Self.bob, by: Self.alice, in: Self.call, sessions: PerLeg(caller: "K", callee: "A"),
                hearing: .silence, rejectsBusy: true)
        case .connected:
            TargetPlacement(
                .transfer, of: "K", by: Self.own, for: Self.alice, to: Self.bob, as: "T", rejectsBusy: true)
        case .started, .announcedStart:
            ApplicationPlacement(
                CallStartRequest(callee: Self.bob, sdp: "", acceptsEarlyMedia: kind == .announcedStart),
                by: CallParty(user: Self.alice, name: "Robot", session: "A", endpoint: .application(.silence)),
                in: Self.call, callee: "B", rejectsBusy: true, earlyMedia: Playback(.file("welcome.wav")))
        case .bridged:
            ConsultationPlacement(
                of: "A", by: Self.own, for: Self.alice, with: Self.other, of: Self.bob, token: "T")
        case .joined:
            HeadlessConferencePlacement(
                of: [Self.own, Self.other], keepers: [Self.other.call: Self.bob],
                by: CallParty(user: Self.alice, name: "Robot", session: "A", endpoint: .application(.silence)),
                in: Self.call)
        case .application: CommandPlacement(.answer(CallAnswerRequest(sdp: "")), in: "A", by: Self.own)
        }
    }

    /// Every reply that an owner can give to a question.
    private func replies(to question: PlacementQuestion, asked: Int) -> [PlacementReply] {
        let contacts = [false, true].map {
            PlacementReply.contact(Contact(endpoint: .devices([Self.device]), displayName: "", isEngaged: $0))
        }
        let refusals: [PlacementReply] = [
            .refused(.noDevice), .refused(.limitOfLegs), .refused(.limitOfRinging), .absent,
        ]
        let failed = PlacementReply.failed(.noSuchCall)
        switch question {
        case .account: return [.account(true), .account(false), .failed(.storageUnavailable)]
        case .load: return [.done, .failed(.unplayable(.notFound("welcome.wav")))]
        case .user(_, .identify):
            return [.requester(Self.own, nil), .requester(Self.own, Self.device), .requester(nil, nil)]
        case .user(_, .awaitsEnd): return [.endAwaited(true), .endAwaited(false)]
        case .call(_, .place): return [.address(Self.own), .address(Self.other), failed]
        case .call(_, .checkPlay): return [.done, failed, .failed(.notAllowed(.play, .directMedia))]
        case .call(_, .command): return [.done, failed, .failed(.pending(retryAfter: 1))]
        case .user(_, .dial):
            // Whatever the same looks have started: the next one is not compared for ever.
            return contacts + refusals + [.refused(.tooOften(retryAfter: .seconds(1)))]
                + (asked < 4 ? [.repeats("before", CallID(9))] : [])
        case .user(_, .attach), .user(_, .contact):
            let others = [LegEndpoint.devices([]), .application(.echo(delay: .seconds(1)))].map {
                PlacementReply.contact(Contact(endpoint: $0, displayName: "", isEngaged: false))
            }
            return contacts + refusals + others
        case .user(_, .connect): return [.done, .absent]
        case .user(_, .charge): return [.done, .refused(.tooOften(retryAfter: .seconds(1)))]
        case .user(_, .recall): return [.absent, .repeats("before", CallID(9))]
        case .user(_, .locate(let session)):
            return [.address(session == "A" || session == "one" ? Self.own : Self.other), .address(nil)]
        case .call(_, .outcome): return [.started(isSame: true), .started(isSame: false), failed]
        case .call(_, .claim): return [.done, .isRepeated, failed]
        case .call(_, .replaceableParty), .call(_, .party): return [.party(Self.known), .party(nil), failed]
        case .call(_, .takeLeg): return [.leg(LegID(7)), failed]
        case .user(_, .forget), .call(_, .settle), .call(_, .session):
            Issue.record("the runner asks this, and no placement")
            return []
        case .call(_, .start), .call(_, .join), .call(_, .retarget), .call(_, .reportUnreachable), .call(_, .consult):
            return [.done, failed]
        }
    }

    @Test(arguments: [.started(isSame: false), .failed(.noSuchCall)] as [PlacementReply])
    func `a start like one whose call is over starts another call`(_ outcome: PlacementReply) {
        var placement = placement(.call)
        let dial = placement.start()
        _ = placement.handle(.repeats("before", CallID(9)))
        #expect(placement.handle(outcome) == [.forget("before", of: Self.alice)] + dial)
    }

    /// What a run has come to.
    private struct Run {
        var placement: any Placement
        var given: [SessionID: EndpointAddress] = [:]
        var claims = 0
        /// How often the new call was served, and how often it was discarded.
        var served = 0
        var discarded = 0
        var asked = 0
        /// The question whose reply comes next.
        var question: PlacementQuestion?
        var outcome: PlacementOutcome?

        /// Carries the actions out.
        mutating func take(_ actions: [PlacementAction]) {
            question = nil
            for (index, action) in actions.enumerated() {
                switch action {
                case .ask(let next):
                    #expect(index == actions.count - 1, "a question is the last action")
                    question = next
                    asked += 1
                case .detach(let session, let endpoint):
                    let holder = given.removeValue(forKey: session)
                    #expect(holder == endpoint, "\(session) is taken back once, from the endpoint that has it")
                case .settle:
                    claims -= 1
                case .serve(let call):
                    #expect(call == PlacementTests.call)
                    served += 1
                case .discard(let call, _):
                    #expect(call == PlacementTests.call)
                    discarded += 1
                case .forget, .report, .count: break
                case .finish(let outcome):
                    #expect(index == actions.count - 1, "the end is the last action")
                    self.outcome = outcome
                }
            }
        }

        /// Notes what the reply gives.
        mutating func note(_ reply: PlacementReply) {
            switch (question, reply) {
            case (.user(let user, .dial(let session, _, _, _)), .contact): given[session] = .registration(user)
            case (.user(let user, .attach(let session, _, _)), .contact(let contact)):
                given[session] = EndpointAddress(contact.endpoint, at: user)
            case (.user(let user, .connect(let session, _, _, _)), .done): given[session] = .application(user)
            case (.call(_, .claim), .done): claims += 1
            default: break
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func `whatever owners reply, what was given is given back unless the request succeeds`(_ kind: Kind) {
        var first = Run(placement: placement(kind))
        first.take(first.placement.start())
        var (open, ends) = ([first], 0)
        var outcomes: Set<String> = []
        while let run = open.popLast() {
            guard let question = run.question else {
                ends += 1
                #expect(run.claims == 0, "every claim is settled")
                let isPlaced = if case .placed = run.outcome { true } else { false }
                #expect(run.served == (kind.opensCall && isPlaced ? 1 : 0), "a new call that is placed is served")
                #expect(run.discarded == (kind.opensCall && !isPlaced ? 1 : 0), "any other new call is discarded")
                switch run.outcome {
                case .placed: outcomes.insert("placed")
                case .repeated:
                    outcomes.insert("repeated")
                    #expect(run.given.isEmpty)
                case .failed:
                    outcomes.insert("failed")
                    #expect(run.given.isEmpty, "given and kept: \(run.given)")
                case nil: Issue.record("a placement ended without an outcome")
                }
                continue
            }
            for reply in replies(to: question, asked: run.asked) {
                var next = run
                next.note(reply)
                next.take(next.placement.handle(reply))
                open.append(next)
            }
        }
        print("\(kind.rawValue): \(ends) runs")
        #expect(outcomes == kind.outcomes)
    }

    @Test func `a caller that can hear a file before the answer goes without one that cannot be played`() {
        var placement = placement(.announcedCall)
        #expect(placement.start() == [.ask(.load(file: "welcome.wav"))])
        let dialled = placement.handle(.done)
        #expect(dialled.count == 1)
        placement = self.placement(.announcedCall)
        _ = placement.start()
        let error = MediaFileError.notFound("welcome.wav")
        #expect(placement.handle(.failed(.unplayable(error))) == [.report(error)] + dialled)
        placement = self.placement(.call)
        #expect(placement.start() == dialled, "only a client that lists `earlymedia` hears it")
    }

    @Test func `an application that wants to hear a file before the answer goes without one that cannot be played`() {
        var placement = placement(.announcedStart)
        #expect(placement.start() == [.ask(.load(file: "welcome.wav"))])
        let attached = placement.handle(.done)
        #expect(attached.count == 1)
        placement = self.placement(.announcedStart)
        _ = placement.start()
        let error = MediaFileError.notFound("welcome.wav")
        #expect(placement.handle(.failed(.unplayable(error))) == [.report(error)] + attached)
        placement = self.placement(.started)
        #expect(placement.start() == attached, "only an application that asks for it hears it")
    }

    @Test func `a callee who is not rung has no leg of the call`() {
        var placement = placement(.call)
        _ = placement.start()
        let contact = Contact(endpoint: .devices([Self.device]), displayName: "Alice", isEngaged: false)
        _ = placement.handle(.contact(contact))
        let busy = placement.handle(
            .contact(Contact(endpoint: .devices([Self.device]), displayName: "Bob", isEngaged: true)))
        guard case .ask(.call(Self.call, .start(_, let parties, unreachable: .busy))) = busy.last else {
            Issue.record("\(busy)")
            return
        }
        #expect(parties.callee.devices == [])
        #expect(
            placement.handle(.done) == [
                .detach("B", of: .registration(Self.bob)), .serve(Self.call), .finish(.placed("A")),
            ])
    }

    @Test func `an application's leg of another call is asked for at the address that it has there`() {
        var placement = placement(.bridged)
        #expect(
            placement.start() == [.ask(.call(Self.own.call, .claim(.consultation(.caller, Self.other.call))))])
        for reply: PlacementReply in [.done, .party(nil)] { _ = placement.handle(reply) }
        #expect(
            placement.handle(.party(Self.known)) == [
                .ask(.call(Self.own.call, .consult(.caller, with: Self.bob, Self.other, of: Self.bob)))
            ])
    }

    @Test func `two legs of one call are not joined`() {
        var placement = HeadlessConferencePlacement(
            of: [Self.own, LegAddress(call: Self.own.call, leg: .callee)], keepers: [:], by: Self.known, in: Self.call)
        let error = CallError.notAllowed(.join, .onlyOneCall)
        #expect(placement.start() == [.discard(Self.call, error), .finish(.failed(error))])
    }

    @Test func `a party that cannot have one more leg is handed over as it is`() {
        var placement = placement(.consultation)
        _ = placement.start()
        for reply: PlacementReply in [.address(Self.own), .address(Self.other), .done, .party(Self.known)] {
            _ = placement.handle(reply)
        }
        _ = placement.handle(.party(Self.known))
        #expect(
            placement.handle(.refused(.limitOfLegs)) == [.ask(.call(Self.other.call, .party(talkingTo: .callee)))])
        #expect(
            placement.handle(.party(nil)) == [
                .ask(.call(Self.own.call, .consult(.caller, with: Self.bob, Self.other)))
            ])
        #expect(
            placement.handle(.done) == [
                .settle(.consultation(.caller, Self.other.call), Self.own.call, nil), .finish(.placed("A")),
            ])
    }
}
