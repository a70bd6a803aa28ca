import CallControl
import CallSupport
import Primitives
import TestSupport
import Testing

/// What an application sees of a leg, folded from what it is told and what it asks for.
struct ApplicationLegTests {
    private struct Rig {
        var leg: ApplicationLeg
        var clock = VirtualClock()
        let decisionMilliseconds: Int?

        init(decisionMilliseconds: Int? = 10_000) throws {
            self.decisionMilliseconds = decisionMilliseconds
            let name = try #require(ApplicationIdentity("robot#1"))
            let address = try #require(UserAddress(parsing: "first@example.com"))
            leg = ApplicationLeg(
                called: name, at: address, as: "B", at: LegAddress(call: CallID(7), leg: .callee), time: 1_000)
        }

        mutating func tell(_ fact: CallEvent.Fact) -> [ApplicationLeg.Action] {
            let audience = CallEvent.Audience(
                devices: [], session: "B", local: DisplayName(name: "Robot", number: "robot@example.com"),
                remote: .user(DisplayName(name: "Alice", number: "alice@example.com")), isCalled: true)
            return leg.handle(CallEvent(.callee, fact, to: audience), at: clock.now, time: 2_000)
        }

        mutating func invite() -> [ApplicationLeg.Action] {
            tell(
                .invited(
                    devices: [],
                    invitation: CallEvent.Invitation(
                        content: CustomContent(parameters: [CustomParameter(name: "n", value: "v")]),
                        decisionMilliseconds: decisionMilliseconds)))
        }

        mutating func see(_ state: LegState, answeredAt: Int64? = nil) {
            leg.see(
                CallSession(
                    session: "B", progress: .ringing, state: state, isIncoming: true, isAnchored: true,
                    isConference: false, startedAt: 1_500, answeredAt: answeredAt, members: [], startParameters: [],
                    answerParameters: [], timeline: []))
        }

        mutating func take(_ command: ApplicationCommand) -> [CallCommand] {
            let requests = leg.take(command, at: clock.now)
            leg.finish(command)
            return requests
        }
    }

    @Test func `an invitation tells who calls whom, and asks for a decision in time`() throws {
        var rig = try Rig()
        #expect(!rig.leg.view.isIntroduced)
        #expect(rig.invite().isEmpty)
        let view = rig.leg.view
        #expect(view.isIntroduced)
        #expect(view.from.text == "alice@example.com" && view.fromName == "Alice")
        #expect(view.to.text == "robot@example.com" && rig.leg.own == view.to)
        #expect(view.parameters == [CustomParameter(name: "n", value: "v")])
        #expect(view.state == .ringing && view.version == 2)
        #expect(rig.leg.deadline == rig.clock.now + .seconds(10))
        #expect(view.decideBy == 12_000 && rig.leg.awaitsDecision)
        rig.clock.advance(by: .seconds(10))
        #expect(rig.leg.timeout(at: rig.clock.now) == [.fallBack])
        #expect(rig.leg.view.decideBy == nil && !rig.leg.awaitsDecision)
        #expect(rig.leg.timeout(at: rig.clock.now).isEmpty)
    }

    @Test func `any command is a decision, and without time to decide the fallback happens at once`() throws {
        var rig = try Rig()
        _ = rig.invite()
        let before = rig.leg
        #expect(rig.take(.ring) == [.ring])
        #expect(rig.leg.deadline == nil && rig.leg.view.decideBy == nil && !rig.leg.awaitsDecision)
        rig.leg.withdraw(.ring, before: before, at: rig.clock.now)
        #expect(rig.leg.view.decideBy == 12_000 && rig.leg.awaitsDecision, "a refused command decides nothing")
        rig = try Rig(decisionMilliseconds: nil)
        #expect(rig.invite() == [.fallBack])
    }

    @Test func `a command that comes before the invitation is the decision, unless it is refused`() throws {
        var rig = try Rig()
        let before = rig.leg
        #expect(rig.leg.take(.ring, at: rig.clock.now) == [.ring])
        #expect(rig.invite().isEmpty)
        #expect(rig.leg.view.decideBy == nil && !rig.leg.awaitsDecision)
        rig.leg.withdraw(.ring, before: before, at: rig.clock.now)
        #expect(rig.leg.view.decideBy == 12_000 && rig.leg.awaitsDecision)
        #expect(rig.leg.deadline == rig.clock.now + .seconds(10))
    }

    @Test func `everything that is told and done counts as a version`() throws {
        var rig = try Rig()
        var last = rig.leg.view.version
        for fact in [CallEvent.Fact.content(CustomContent()), .alerted, .playbackEnded] {
            _ = rig.tell(fact)
            #expect(rig.leg.view.version > last)
            last = rig.leg.view.version
        }
        _ = rig.take(.mute)
        #expect(rig.leg.view.version > last && rig.leg.view.isMuted)
        _ = rig.take(.unmute)
        #expect(!rig.leg.view.isMuted)
    }

    @Test(arguments: [
        (LegState.dialing, ApplicationCallPhase.ringing), (.ringing, .ringing), (.answering, .ringing),
        (.sessionProgress, .progressing), (.inCall, .talking), (.remotelyHeld, .talking), (.onHold, .held),
        (.onDoubleHold, .held),
    ])
    func `the state is that of the call, and the start that of the leg`(
        _ state: LegState, _ phase: ApplicationCallPhase
    ) throws {
        var rig = try Rig()
        rig.see(state)
        #expect(rig.leg.view.state.phase == phase)
        #expect(rig.leg.view.startedAt == 1_000, "its place among the calls of the application does not change")
    }

    @Test func `a call that hears something before the answer progresses, also while a device rings`() throws {
        let address = try #require(UserAddress(parsing: "robot@example.com"))
        let robot = RegisteredApplication(
            identity: try #require(ApplicationIdentity("robot#1")), displayName: "Robot",
            addresses: [ApplicationAddress(address)])
        var leg = ApplicationLeg(
            starting: try ApplicationCallRequest(to: address, from: address, earlyMedia: true), by: robot, as: "A",
            at: LegAddress(call: CallID(7), leg: .caller), time: 1)
        func see(_ state: LegState, hearsEarly: Bool) {
            leg.see(
                CallSession(
                    session: "A", progress: .ringing, state: state, hearsEarly: hearsEarly, isIncoming: false,
                    isAnchored: true, isConference: false, startedAt: 1, members: [], startParameters: [],
                    answerParameters: [], timeline: []))
        }
        see(.ringing, hearsEarly: false)
        #expect(leg.view.state == .ringing && leg.view.allowed == [.end])
        #expect(leg.view.obstacleToStream == .stateForStream(.ringing))
        see(.ringing, hearsEarly: true)
        #expect(leg.view.state == .progressing)
        #expect(leg.view.allowed == [.end, .mute, .unmute, .stop, .gather, .record])
        #expect(leg.view.obstacleToStream == nil && leg.obstacleToListener == nil)
        let tone = try PlayList(items: [.tone(.dial, nil)])
        #expect(leg.obstacle(to: .gather(try GatherRequest(maximum: 1))) == nil)
        let prompting = try GatherRequest(maximum: 1, prompt: tone)
        #expect(leg.obstacle(to: .gather(prompting)) == .state(.progressing, .play), "nobody would hear the prompt")
        see(.inCall, hearsEarly: false)
        #expect(leg.obstacle(to: .gather(prompting)) == nil)
    }

    @Test func `a leg that has answered talks, also while the caller has not answered its offer`() throws {
        var rig = try Rig()
        _ = rig.invite()
        _ = rig.take(.answer(CustomContent()))
        rig.see(.answering, answeredAt: 2_000)
        #expect(rig.leg.view.state == .talking)
        _ = rig.take(.end(reasonText: "bye"))
        #expect(rig.leg.view.state == .ended(.completed(by: .callee, reasonText: "bye")))
    }

    @Test func `an application that is heard early progresses, unless the call says no`() throws {
        var rig = try Rig()
        _ = rig.invite()
        let before = rig.leg
        #expect(rig.leg.take(.progress(nil), at: rig.clock.now) == [.headless(.progress)])
        rig.see(.ringing)
        #expect(rig.leg.view.state == .progressing)
        rig.leg.withdraw(.progress(nil), before: before, at: rig.clock.now)
        rig.see(.ringing)
        #expect(rig.leg.view.state == .ringing)
    }

    @Test func `a command that the call refuses decides nothing, also before the invitation`() throws {
        var rig = try Rig()
        _ = rig.invite()
        var before = rig.leg
        _ = rig.leg.take(.progress(nil), at: rig.clock.now)
        rig.leg.withdraw(.progress(nil), before: before, at: rig.clock.now)
        #expect(!rig.leg.isDecided && rig.leg.deadline == rig.clock.now + .seconds(10))
        rig = try Rig()
        before = rig.leg
        _ = rig.leg.take(.ring, at: rig.clock.now)
        _ = rig.invite()
        rig.leg.withdraw(.ring, before: before, at: rig.clock.now)
        #expect(!rig.leg.isDecided)
        rig.clock.advance(by: .seconds(10))
        #expect(rig.leg.timeout(at: rig.clock.now) == [.fallBack])
        rig = try Rig()
        _ = rig.invite()
        _ = rig.leg.established(time: 1)
        before = rig.leg
        _ = rig.leg.take(.hold, at: rig.clock.now)
        rig.leg.withdraw(.hold, before: before, at: rig.clock.now)
        #expect(rig.leg.deadline == nil, "a call that talks has been decided about")
    }

    @Test(arguments: [
        (RejectCause.declined, CallCommand.reject(replacement: false), CallEndCause.rejected(reasonText: nil)),
        (.busy, .headless(.refuse(.busy)), .unreachable(.busy)),
        (.unavailable, .headless(.refuse(.notRegistered)), .unreachable(.notRegistered)),
        (.notFound, .headless(.refuse(.noSuchUser)), .unreachable(.noSuchUser)),
    ])
    func `a call that is refused has ended for that cause`(
        _ cause: RejectCause, _ request: CallCommand, _ end: CallEndCause
    ) throws {
        var rig = try Rig()
        _ = rig.invite()
        #expect(rig.take(.reject(cause)) == [request])
        rig.leg.detach(at: rig.clock.now)
        #expect(rig.leg.view.state == .ended(end))
        #expect(rig.leg.view.allowed.isEmpty)
    }

    @Test func `a call that is over is shown for a minute`() throws {
        var rig = try Rig()
        _ = rig.tell(.released(.completed(by: .caller, reasonText: "bye"), by: .caller))
        #expect(rig.leg.isOver && rig.leg.view.state == .ended(.completed(by: .caller, reasonText: "bye")))
        rig.leg.detach(at: rig.clock.now)
        #expect(rig.leg.view.state == .ended(.completed(by: .caller, reasonText: "bye")))
        rig.see(.inCall)
        #expect(rig.leg.view.state.phase == .ended)
        rig.clock.advance(by: .seconds(59))
        #expect(!rig.leg.isForgotten(at: rig.clock.now))
        rig.clock.advance(by: .seconds(1))
        #expect(rig.leg.isForgotten(at: rig.clock.now))
    }

    @Test func `after a transfer it ends its part, and the call goes on without it`() throws {
        var rig = try Rig()
        #expect(rig.tell(.completed(.transfer)) == [.perform(.end(reasonText: nil))])
        #expect(rig.leg.view.state == .ended(nil))
        var other = try Rig()
        _ = other.tell(.stoppedRinging(.forwarded, device: nil))
        #expect(other.leg.view.state == .ended(nil))
        for (leg, state) in [
            (LegID.callee, ApplicationCall.State.ended(nil)), (.caller, .ended(.transferred(by: .caller))),
        ] {
            var handed = try Rig()
            _ = handed.tell(.released(.transferred(by: leg), by: leg))
            #expect(handed.leg.view.state == state, "it ended its part itself, or another leg ended the call")
        }
    }

    @Test func `lists play and wait, each with its number, until their end is told`() throws {
        var rig = try Rig()
        let list = PlayList(file: "a.wav")
        let first = try PlayRequest(list: list, tag: "one")
        let second = try PlayRequest(list: list, mode: .queue, tag: "two")
        #expect(rig.take(.play(first)) == [.headless(.say(.play(list, number: 1, tag: "one", .replace)))])
        #expect(rig.take(.play(second)) == [.headless(.say(.play(list, number: 2, tag: "two", .queue)))])
        #expect(rig.leg.view.playing == .init(tag: "one", waiting: 1))
        #expect(rig.leg.view.played == nil)
        _ = rig.tell(.played(PlayedList(number: 1, tag: "one", heard: 20, outcome: .completed)))
        #expect(rig.leg.view.playing == .init(tag: "two", waiting: 0))
        #expect(rig.leg.view.played == PlayedList(number: 1, tag: "one", heard: 20, outcome: .completed))
        let last = PlayedList(number: 2, tag: "two", heard: 40, outcome: .stopped)
        _ = rig.tell(.played(last))
        #expect(rig.leg.view.playing == nil)
        #expect(rig.leg.view.played == last)
        for _ in 0...PlayRequest.maximumWaiting {
            #expect(rig.leg.obstacle(to: .play(second)) == nil)
            _ = rig.take(.play(second))
        }
        #expect(rig.leg.obstacle(to: .play(second)) == .waitingLists(limit: PlayRequest.maximumWaiting))
        #expect(rig.leg.obstacle(to: .play(first)) == nil)
    }

    @Test func `keys go to the gathering, whose prompt they stop, and the result is made known`() throws {
        var rig = try Rig()
        let menu = PlayList(file: "menu.wav")
        let request = try GatherRequest(maximum: 2, prompt: menu, tag: "pin")
        #expect(rig.take(.gather(request)) == [.headless(.say(.play(menu, number: 1, tag: "pin", .replace)))])
        #expect(rig.leg.view.gathering == .init(tag: "pin", keys: []))
        #expect(rig.leg.deadline == nil)
        #expect(
            rig.tell(.keyPressed(key: .four, milliseconds: 90, of: .caller)) == [
                .perform(.headless(.say(.stopList(1))))
            ])
        #expect(rig.leg.view.gathering == .init(tag: "pin", keys: [.four]))
        _ = rig.tell(.played(PlayedList(number: 1, tag: "pin", heard: 500, outcome: .stopped)))
        let result = GatheredKeys(keys: [.four, .two], outcome: .maximum, tag: "pin")
        #expect(
            rig.tell(.keyPressed(key: .two, milliseconds: 90, of: .caller)) == [
                .perform(.headless(.gathered(result)))
            ])
        #expect(rig.leg.view.gathering == nil)
    }

    @Test func `the first key is waited for from the end of the prompt, whoever ends it`() throws {
        var rig = try Rig()
        let request = try GatherRequest(firstTimeout: .seconds(3), prompt: PlayList(file: "menu.wav"))
        _ = rig.take(.gather(request))
        _ = rig.tell(.played(PlayedList(number: 1, tag: nil, heard: 500, outcome: .replaced)))
        #expect(rig.leg.deadline == rig.clock.now + .seconds(3))
        rig.clock.advance(by: .seconds(3))
        let result = GatheredKeys(keys: [], outcome: .timeout, tag: nil)
        #expect(rig.leg.timeout(at: rig.clock.now) == [.perform(.headless(.gathered(result)))])
    }

    @Test(arguments: [true, false])
    func `what the end of the call cuts off is shown, whichever is told first`(_ isEndFirst: Bool) throws {
        var rig = try Rig()
        let list = PlayList(file: "a.wav")
        _ = rig.take(.play(try PlayRequest(list: list, tag: "one")))
        _ = rig.take(.play(try PlayRequest(list: list, mode: .queue, tag: "two")))
        _ = rig.take(.gather(try GatherRequest(maximum: 4, tag: "pin")))
        _ = rig.tell(.keyPressed(key: .four, milliseconds: 90, of: .caller))
        #expect(rig.leg.cutOffGathering == nil)
        let end = CallEvent.Fact.released(.completed(by: .caller, reasonText: nil), by: .caller)
        if isEndFirst { _ = rig.tell(end) }
        let lists = [
            PlayedList(number: 1, tag: "one", heard: 1_980, outcome: .callEnded),
            PlayedList(number: 2, tag: "two", heard: 0, outcome: .callEnded),
        ]
        let version = rig.leg.view.version
        for list in lists { #expect(rig.leg.endedLate(list, at: rig.clock.now).isEmpty) }
        #expect(rig.leg.view.version == version + 2)
        if !isEndFirst { _ = rig.tell(end) }
        #expect(rig.leg.isOver && rig.leg.view.playing == nil && rig.leg.view.gathering == nil)
        #expect(rig.leg.view.played == lists[0], "the one that played")
        #expect(rig.leg.cutOffGathering == GatheredKeys(keys: [.four], outcome: .callEnded, tag: "pin"))
    }

    @Test func `a gathering is cut off by the end of the call also if a command was about to stop it`() throws {
        for command in [ApplicationCommand.stop, .gather(try GatherRequest(tag: "other"))] {
            var rig = try Rig()
            _ = rig.take(.gather(try GatherRequest(maximum: 4, tag: "pin")))
            _ = rig.tell(.keyPressed(key: .four, milliseconds: 90, of: .caller))
            let before = rig.leg
            _ = rig.leg.take(command, at: rig.clock.now)
            rig.leg.detach(at: rig.clock.now)
            rig.leg.withdraw(command, before: before, at: rig.clock.now)
            #expect(rig.leg.cutOffGathering == GatheredKeys(keys: [.four], outcome: .callEnded, tag: "pin"))
            #expect(rig.leg.view.gathering == nil)
        }
    }

    @Test func `an announcement that ended in the last moment of the call has nothing to end`() throws {
        var rig = try Rig()
        _ = rig.leg.announce(PlayList(file: "closed.wav"))
        rig.leg.detach(at: rig.clock.now)
        let list = PlayedList(number: 1, tag: nil, heard: 900, outcome: .completed)
        #expect(rig.leg.endedLate(list, at: rig.clock.now).isEmpty)
        #expect(rig.leg.view.played == list)
        #expect(rig.leg.cutOffGathering == nil)
    }

    @Test func `a prompt whose end the former call of the leg cannot tell lets the first key be waited for`() throws {
        var rig = try Rig()
        let prompt = PlayList(file: "menu.wav")
        _ = rig.take(.gather(try GatherRequest(firstTimeout: .seconds(3), prompt: prompt)))
        rig.leg.move(to: LegAddress(call: CallID(2), leg: .caller))
        let list = PlayedList(number: 1, tag: nil, heard: 900, outcome: .completed)
        #expect(rig.leg.endedLate(list, at: rig.clock.now).isEmpty)
        #expect(rig.leg.deadline == rig.clock.now + .seconds(3))
    }

    @Test func `a leg is part of the last trace that it was told`() throws {
        var rig = try Rig()
        let trace = try #require(TraceContext("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
        rig.leg.noteTrace(nil)
        #expect(rig.leg.view.trace == nil)
        rig.leg.noteTrace(trace)
        rig.leg.noteTrace(nil)
        #expect(rig.leg.view.trace == trace)
    }

    @Test func `to stop ends what plays and what gathers, and a gathering takes the place of another`() throws {
        var rig = try Rig()
        let request = try GatherRequest(tag: "a")
        _ = rig.take(.gather(request))
        let stopped = GatheredKeys(keys: [], outcome: .stopped, tag: "a")
        #expect(rig.take(.gather(try GatherRequest(tag: "b"))) == [.headless(.gathered(stopped))])
        #expect(
            rig.take(.stop) == [
                .headless(.say(.stop)), .headless(.gathered(GatheredKeys(keys: [], outcome: .stopped, tag: "b"))),
            ])
        #expect(rig.take(.stop) == [.headless(.say(.stop))])
    }

    @Test func `a key and another gathering stop the prompt alone, and not what is queued behind it`() throws {
        for isPressed in [true, false] {
            var rig = try Rig()
            _ = rig.take(.gather(try GatherRequest(prompt: PlayList(file: "menu.wav"))))
            _ = rig.take(.play(try PlayRequest(list: PlayList(file: "b.wav"), mode: .queue, tag: "next")))
            if isPressed {
                let told = rig.tell(.keyPressed(key: .one, milliseconds: 90, of: .caller))
                #expect(told.first == .perform(.headless(.say(.stopList(1)))))
            } else {
                #expect(rig.take(.gather(try GatherRequest())).first == .headless(.say(.stopList(1))))
            }
            _ = rig.tell(.played(PlayedList(number: 1, tag: nil, heard: 500, outcome: .stopped)))
            #expect(rig.leg.view.playing == .init(tag: "next", waiting: 0))
        }
    }

    @Test func `a gathering goes on when the command that would end it is refused`() throws {
        let request = try GatherRequest(
            maximum: 2, firstTimeout: .seconds(3), prompt: PlayList(file: "menu.wav"), tag: "a")
        for command in [ApplicationCommand.stop, .gather(try GatherRequest(prompt: PlayList(file: "b.wav")))] {
            var rig = try Rig()
            _ = rig.take(.gather(request))
            var before = rig.leg
            #expect(rig.leg.take(command, at: rig.clock.now).last?.isGathered == true, "it may be refused before")
            rig.leg.withdraw(command, before: before, at: rig.clock.now)
            #expect(rig.leg.view.gathering == .init(tag: "a", keys: []))
            #expect(rig.leg.view.playing == .init(tag: "a", waiting: 0))
            #expect(rig.leg.deadline == nil, "the prompt still plays")
            before = rig.leg
            _ = rig.leg.take(command, at: rig.clock.now)
            _ = rig.tell(.played(PlayedList(number: 1, tag: "a", heard: 500, outcome: .completed)))
            rig.leg.withdraw(command, before: before, at: rig.clock.now)
            #expect(rig.leg.deadline == rig.clock.now + .seconds(3), "the prompt has ended meanwhile")
            #expect(rig.tell(.keyPressed(key: .four, milliseconds: 90, of: .caller)).isEmpty)
            #expect(rig.leg.view.gathering == .init(tag: "a", keys: [.four]))
        }
    }

    @Test(arguments: [
        (PlayedList.Outcome.completed, true), (.failed, true), (.stopped, false), (.replaced, false),
        (.callEnded, false),
    ])
    func `an announcement ends the call, unless the application takes over`(
        _ outcome: PlayedList.Outcome, _ ends: Bool
    ) throws {
        var rig = try Rig()
        _ = rig.leg.announce(PlayList(file: "closed.wav"))
        #expect(
            rig.tell(.played(PlayedList(number: 1, tag: nil, heard: 0, outcome: outcome)))
                == (ends ? [.perform(.end(reasonText: nil))] : []))
    }

    @Test func `an announcement that the call does not allow yet is said later`() throws {
        var rig = try Rig()
        let list = PlayList(file: "closed.wav")
        for told in [[], [ApplicationLeg.Action.announce(list)]] {
            let before = rig.leg
            _ = rig.leg.announce(list)
            if !told.isEmpty { #expect(rig.leg.established(time: 1).isEmpty) }
            #expect(rig.leg.postpone(list, before: before) == told, "it may talk by now")
            #expect(rig.leg.view.playing == nil)
        }
        rig = try Rig()
        _ = rig.leg.announce(list)
        _ = rig.leg.postpone(list, before: rig.leg)
        #expect(rig.leg.established(time: 1) == [.announce(list)])
        #expect(rig.leg.established(time: 1).isEmpty, "once")
        _ = rig.leg.announce(list)
        _ = rig.leg.postpone(list, before: rig.leg)
        #expect(rig.tell(.alerted) == [.announce(list)])
        _ = rig.leg.announce(list)
        _ = rig.leg.postpone(list, before: rig.leg)
        #expect(rig.tell(.released(.unanswered, by: nil)).isEmpty, "the call is over")
    }

    @Test func `a leg that only listens is muted before it is heard, once`() throws {
        let rig = try Rig()
        for isMuted in [true, false] {
            var leg = ApplicationLeg(
                joining: rig.leg.view, own: rig.leg.own, name: "Bot", as: "J",
                at: LegAddress(call: CallID(9), leg: .caller), isMuted: isMuted, time: 5)
            #expect(leg.view.isMuted == isMuted && leg.own == rig.leg.own && leg.view.direction == .outgoing)
            #expect(leg.view.to.text == "conference@\(leg.own.domain)" && leg.view.allowed == [.end])
            #expect(leg.established(time: 6) == (isMuted ? [.perform(.headless(.say(.mute(true))))] : []))
            #expect(leg.established(time: 7).isEmpty)
        }
        var leg = ApplicationLeg(
            joining: rig.leg.view, own: rig.leg.own, name: "Bot", as: "J",
            at: LegAddress(call: CallID(9), leg: .caller), isMuted: true, time: 5)
        leg.finish(.unmute)
        #expect(leg.established(time: 6).isEmpty, "the application was faster")
    }

    @Test func `a conference allows to leave while two others talk, and no transfer`() throws {
        var rig = try Rig()
        func member(_ state: LegState) -> CallSession.Member {
            CallSession.Member(
                side: .peer, name: "", address: "x@example.com", isCalled: true, state: state,
                holds: false, media: [])
        }
        for (others, isConference, mayLeave) in [
            ([LegState.inCall, .onHold], true, true), ([.inCall, .ended], true, false), ([.inCall], true, false),
            ([.inCall], false, false),
        ] {
            rig.leg.see(
                CallSession(
                    session: "B", progress: .answered, state: .inCall, isIncoming: true, isAnchored: true,
                    isConference: isConference, startedAt: 1, members: [member(.inCall)] + others.map(member),
                    startParameters: [], answerParameters: [], timeline: []))
            let view = rig.leg.view
            #expect(view.allowed.contains(.leave) == mayLeave)
            #expect(view.allowed.contains(.transfer) == !isConference)
            #expect(view.allowed.contains(.join))
        }
        #expect(rig.leg.view.obstacle(to: .leave) == .fewerThanTwoOthers)
        #expect(rig.leg.view.obstacle(to: .ring) == .state(.talking, .ring))
        #expect(rig.take(.leave) == [.end(reasonText: nil)])
        #expect(rig.leg.view.state == .ended(.completed(by: .callee, reasonText: nil)))
    }

    @Test func `a stream is allowed where one can be opened, or one of the gateway be ended`() throws {
        var rig = try Rig()
        _ = rig.invite()
        #expect(!rig.leg.view.allowsStream && rig.leg.view.obstacleToStream == .stateForStream(.ringing))
        rig.see(.sessionProgress)
        #expect(rig.leg.view.allowsStream)
        rig.see(.inCall, answeredAt: 1_600)
        #expect(rig.leg.view.allowsStream)
        rig.see(.onHold, answeredAt: 1_600)
        #expect(!rig.leg.view.allowsStream)
        // One that its program opens: there is no second one, and the program may come back, also to a call on hold.
        rig.see(.inCall, answeredAt: 1_600)
        _ = rig.leg.open(StreamID(1))
        #expect(!rig.leg.view.allowsStream && rig.leg.view.obstacleToStream == .hasStream)
        rig.leg.awaitProgram(of: StreamID(1))
        rig.see(.onHold, answeredAt: 1_600)
        #expect(rig.leg.view.allowsStream && rig.leg.view.awaitsProgram && rig.leg.streamCount == 1)
        rig.leg.endStream()
        #expect(!rig.leg.view.allowsStream && rig.leg.streamCount == 0)
        // One that the gateway opens: it can be ended whatever has become of it.
        rig.see(.inCall, answeredAt: 1_600)
        rig.leg.connect(StreamID(2))
        #expect(rig.leg.view.allowsStream && rig.leg.view.obstacleToStream == .hasStream)
        _ = rig.leg.open(StreamID(3))
        rig.see(.onHold, answeredAt: 1_600)
        #expect(rig.leg.view.allowsStream)
        rig.leg.lostStream()
        #expect(rig.leg.view.allowsStream && !rig.leg.view.awaitsProgram)
        _ = rig.take(.end(reasonText: nil))
        #expect(!rig.leg.view.allowsStream)
    }

    @Test func `what is done with other calls asks nothing of this one alone`() throws {
        let commands: [(ApplicationCommand, ApplicationCommand.Bridging)] = [
            (.transferToCall("C"), .connect("C")), (.bridge("C", .leave), .connect("C")),
            (.bridge("C", .stay), .join(["C"], isMuted: false)), (.bridge("C", .listen), .join(["C"], isMuted: true)),
            (.join(["C", "D"]), .join(["C", "D"], isMuted: false)),
        ]
        for (command, bridging) in commands {
            var rig = try Rig()
            #expect(command.bridging == bridging)
            #expect(rig.take(command).isEmpty)
        }
        #expect(ApplicationCommand.leave.bridging == nil)
    }

    @Test func `a leg that moves is part of another call`() throws {
        var rig = try Rig()
        rig.leg.move(to: LegAddress(call: CallID(9), leg: LegID(3)))
        #expect(rig.leg.view.call == CallID(9) && rig.leg.view.id == "B")
    }
}

extension CallCommand {
    /// Whether the command makes known what a gathering has come to.
    fileprivate var isGathered: Bool { if case .headless(.gathered) = self { true } else { false } }
}
