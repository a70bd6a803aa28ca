import CallControl
import CallSupport
import Primitives
import SDP
import SPiDR
import TestSupport
import Testing

/// What an application asks for about its headless leg: Alice, with a device, calls it, or it calls her.
struct HeadlessCommandTests {
    private struct Rig {
        var call: Call
        var clock = VirtualClock()
        var random = SeededRandomSource(seed: 5)

        init(caller: LegEndpoint, callee: LegEndpoint, earlyMedia: Playback? = nil) {
            var configuration = Call.Configuration()
            configuration.mediaPolicy = .engine
            configuration.earlyMedia = earlyMedia
            configuration.playsMusicOnHold = true
            call = Call(
                id: CallID(7),
                parties: PerLeg(
                    caller: CallParty(user: CallRig.alice, name: "Alice", session: "A", endpoint: caller),
                    callee: CallParty(user: CallRig.bob, name: "Bob", session: "B", endpoint: callee)),
                configuration: configuration)
        }

        /// Alice calls the application.
        static func called(accepting: Bool = true, earlyMedia: Playback? = nil) throws -> (Rig, [CallAction]) {
            var rig = Rig(
                caller: .devices([Device("a1")]), callee: .application(.silence), earlyMedia: earlyMedia)
            let actions = try rig.start(ScriptedDescription.audio("alice", .sendReceive), accepting: accepting)
            return (rig, actions)
        }

        /// Alice has called the application, and both talk.
        static func talking() throws -> Rig {
            var (rig, _) = try called()
            _ = try rig.call.answer(by: .callee, CallAnswerRequest(sdp: ""), at: rig.clock.now, random: &rig.random)
            return rig
        }

        mutating func start(_ sdp: String, accepting: Bool, ringTime: Duration? = nil) throws -> [CallAction] {
            let mode = MediaMode.anchored(
                PerLeg(caller: CallRig.identity("gwcaller"), callee: CallRig.identity("gwcallee")))
            var request = CallStartRequest(callee: CallRig.bob, sdp: sdp, acceptsEarlyMedia: accepting)
            request.ringTime = ringTime
            return try call.start(request, media: mode, at: clock.now, random: &random)
        }

        mutating func perform(_ command: HeadlessCommand, by leg: LegID = .callee) throws(CallError) -> [CallAction] {
            try call.perform(command, by: leg, at: clock.now, random: &random)
        }

        /// Alice offers to hold.
        mutating func hold(version: Int) throws -> [CallAction] {
            try call.offer(
                by: .caller,
                CallUpdateRequest(sdp: ScriptedDescription.audio("alice", .inactive, version: version)),
                at: clock.now, random: &random)
        }

        /// What the application of the caller is shown: whether it can hear something before the answer.
        func callerHearsEarly() throws -> Bool {
            let history = CallHistory(origin: Moment(clock.now, epochMilliseconds: 0))
            return try call.session(for: .caller, history).hearsEarly
        }

        /// Time passes until the next thing is due.
        mutating func pass() -> [CallAction] {
            guard let next = call.nextDeadline else { return [] }
            clock.advance(by: next.time - clock.now)
            return call.timeout(at: clock.now, random: &random)
        }

        /// Alice answers the last offer of the gateway.
        mutating func accept(_ direction: MediaDirection, version: Int) throws -> [CallAction] {
            try call.respond(
                by: .caller,
                CallUpdateRequest(
                    sdp: ScriptedDescription.audio("alice", direction, setup: "active", version: version)),
                at: clock.now, random: &random)
        }
    }

    /// What the media plane is told.
    private func media(_ actions: [CallAction]) -> [String] {
        actions.compactMap { if case .event = $0 { nil } else { $0.trace } }
    }

    private func facts(_ actions: [CallAction], of leg: LegID) -> [CallEvent.Fact] {
        actions.compactMap { if case .event(let event) = $0, event.leg == leg { event.fact } else { nil } }
    }

    // MARK: Before the answer

    @Test func `a caller with early media hears the application before the answer, and goes on hearing it`() throws {
        var (rig, _) = try Rig.called()
        let progress = try rig.perform(.progress)
        #expect(
            media(progress) == [
                "prepare caller", "connect caller", "prepare headless callee", "route caller hears callee",
                "route callee hears caller",
            ])
        #expect(progress.descriptions(.sessionProgress).count == 1)
        #expect(rig.call.legState(.caller) == .sessionProgress)
        #expect(try rig.perform(.progress).isEmpty, "once is enough")
        #expect(media(try rig.perform(.say(.play(PlayList(file: "a.wav"), number: 1, tag: nil, .replace)))).count == 1)
        let rings = try rig.call.ringing(by: .callee)
        #expect(media(rings).isEmpty)
        let answered = try rig.call.answer(
            by: .callee, CallAnswerRequest(sdp: ""), at: rig.clock.now, random: &rig.random)
        #expect(media(answered).allSatisfy { !$0.hasPrefix("prepare") && !$0.hasPrefix("stop") })
        #expect(rig.call.legState(.callee) == .inCall)
    }

    @Test func `the application takes the place of the early media that is configured`() throws {
        var (rig, started) = try Rig.called(earlyMedia: Playback(.tone(.ringback)))
        #expect(started.descriptions(.sessionProgress).count == 1)
        let progress = try rig.perform(.progress)
        #expect(media(progress).prefix(2) == ["stop caller", "prepare headless callee"])
        #expect(progress.descriptions(.sessionProgress).isEmpty)
        #expect(media(try rig.call.ringing(by: .callee)).isEmpty, "no ringback over the application")
    }

    @Test func `a caller that takes no early media is not given any`() throws {
        var (rig, _) = try Rig.called(accepting: false)
        let before = rig.call
        #expect(throws: CallError.notAllowed(.progress, .noEarlyMedia)) { try rig.perform(.progress) }
        #expect(rig.call == before)
        #expect(throws: CallError.notAllowed(.play, .state(.ringing))) { try rig.perform(.say(.stop)) }
    }

    @Test func `an application hears another one before the answer`() throws {
        var rig = Rig(caller: .application(.silence), callee: .application(.echo(delay: .seconds(1))))
        _ = try rig.start("", accepting: true)
        let progress = try rig.perform(.progress)
        #expect(media(progress).prefix(2) == ["prepare headless caller", "prepare headless callee"])
        #expect(facts(progress, of: .caller) == [.progressed(description: "")])
        let list = Speech.play(PlayList(file: "a.wav"), number: 1, tag: nil, .replace)
        #expect(try rig.perform(.say(list), by: .caller) == [.say(.caller, list)], "the other application hears it")
        let pressed = rig.call.keyPressed(.five, milliseconds: 100, by: .caller)
        #expect(facts(pressed, of: .callee) == [.keyPressed(key: .five, milliseconds: 100, of: .caller)])
        let digits = try #require(DigitSequence("7"))
        for (leg, listener) in [(LegID.callee, LegID.caller), (.caller, .callee)] {
            let sent = try rig.call.sendDigits(digits, to: .peer, by: leg, at: rig.clock.now)
            #expect(facts(sent, of: listener) == [.keyPressed(key: .seven, milliseconds: 100, of: leg)])
        }
        let answered = try rig.call.answer(
            by: .callee, CallAnswerRequest(sdp: ""), at: rig.clock.now, random: &rig.random)
        #expect(media(answered).allSatisfy { !$0.hasPrefix("prepare") })
    }

    @Test func `an application that calls hears before the answer what is configured`() throws {
        let (file, tone) = (Playback(.file("welcome.wav"), repeats: true), Playback(.tone(.ringback)))
        for playback in [file, tone] {
            var rig = Rig(
                caller: .application(.silence), callee: .devices([Device("b1", sendsRingingFeedback: true)]),
                earlyMedia: playback)
            let started = try rig.start("", accepting: true)
            let plays = CallAction.play(playback, number: 0, to: .caller)
            #expect(started.contains(.prepareHeadless(.caller, .silence)))
            #expect(started.contains(plays) == (playback == file), "a ringback tone waits for a device that rings")
            #expect(facts(started, of: .caller).last == .progressed(description: ""))
            #expect(rig.call.legState(.caller) == .sessionProgress)
            let stream = try rig.perform(.say(.stream(StreamID(1))), by: .caller)
            #expect(stream == [.say(.caller, .stream(StreamID(1)))])
            let list = Speech.play(PlayList(file: "a.wav"), number: 1, tag: nil, .replace)
            #expect(throws: CallError.self, "it would be over before anybody hears it") {
                try rig.perform(.say(list), by: .caller)
            }
            #expect(try rig.perform(.say(.stop), by: .caller) == [.say(.caller, .stop)])
            let digits = try #require(DigitSequence("7"))
            #expect(throws: CallError.self, "nobody hears it") {
                try rig.call.sendDigits(digits, to: .peer, by: .caller, at: rig.clock.now)
            }
            let rings = try rig.call.ringing(by: .callee)
            #expect(rings.contains(plays) == (playback == tone))
            #expect(rig.call.legState(.caller) == .ringing)
            #expect(try rig.callerHearsEarly(), "also while a device rings")
            let answered = try rig.call.answer(
                by: .callee,
                CallAnswerRequest(sdp: ScriptedDescription.audio("bobs", .sendReceive, setup: "active")),
                at: rig.clock.now, random: &rig.random)
            #expect(
                media(answered) == [
                    "stop caller", "route caller hears callee", "route callee hears caller", "connect callee",
                ])
            #expect(try !rig.callerHearsEarly())
            #expect(try rig.perform(.say(list), by: .caller) == [.say(.caller, list)])
        }
    }

    @Test func `an application that calls and does not ask for it hears nothing before the answer`() throws {
        var rig = Rig(
            caller: .application(.silence), callee: .devices([Device("b1")]), earlyMedia: Playback(.tone(.ringback)))
        let started = try rig.start("", accepting: false)
        #expect(!started.contains(.prepareHeadless(.caller, .silence)))
        #expect(try !rig.callerHearsEarly())
        #expect(throws: CallError.self) { try rig.perform(.say(.stop), by: .caller) }
    }

    @Test(arguments: CallEndCause.Unreachable.allCases)
    func `a call is refused for a reason`(_ reason: CallEndCause.Unreachable) throws {
        var (rig, _) = try Rig.called()
        let refused = try rig.perform(.refuse(reason))
        #expect(facts(refused, of: .caller) == [.released(.unreachable(reason), by: nil)])
        guard case .ended(let record) = rig.call.state else {
            Issue.record("the call goes on")
            return
        }
        #expect(record.cause == .unreachable(reason))
    }

    @Test func `the time to ring can be shorter than usual, and not longer`() throws {
        for (asked, lasts) in [
            (Duration.seconds(5), Duration.seconds(5)), (.seconds(500), Call.Configuration().ringTime),
        ] {
            var rig = Rig(caller: .application(.silence), callee: .devices([Device("b1")]))
            _ = try rig.start("", accepting: false, ringTime: asked)
            #expect(rig.call.nextDeadline == Deadline(rig.clock.now + lasts, .ringing))
        }
    }

    // MARK: Hold

    @Test func `a leg with a peer is offered to be held at once, and hears music`() throws {
        var rig = try Rig.talking()
        _ = rig.call.mediaAdvanced(.caller, to: .secured)
        rig.clock.advance(by: .seconds(5))
        let held = try rig.perform(.hold(true))
        #expect(facts(held, of: .callee) == [.held])
        #expect(media(held).contains { $0.hasPrefix("play") && $0.hasSuffix("to caller") })
        #expect(held.contains(.say(.callee, .pause(true))))
        let offer = try #require(held.descriptions(.startCallUpdate).first)
        #expect(try ScriptedDescription.direction(offer) == .sendOnly)
        #expect([rig.call.legState(.caller), rig.call.legState(.callee)] == [.remotelyHeld, .onHold])
        _ = try rig.accept(.receiveOnly, version: 2)
        #expect(rig.call[.caller]?.holds == false, "its answer left it no choice")
        #expect(try rig.perform(.hold(true)).isEmpty)
        rig.clock.advance(by: .seconds(5))
        let resumed = try rig.perform(.hold(false))
        #expect(facts(resumed, of: .callee) == [.resumed])
        #expect(media(resumed).contains("stop caller"))
        let back = try #require(resumed.descriptions(.startCallUpdate).first)
        #expect(try ScriptedDescription.direction(back) == .sendReceive)
        _ = try rig.accept(.sendReceive, version: 3)
        #expect([rig.call.legState(.caller), rig.call.legState(.callee)] == [.inCall, .inCall])
    }

    @Test func `both hold, and each takes its own hold back`() throws {
        var rig = try Rig.talking()
        rig.clock.advance(by: .seconds(5))
        _ = try rig.call.offer(
            by: .caller, CallUpdateRequest(sdp: ScriptedDescription.audio("alice", .sendOnly, version: 2)),
            at: rig.clock.now, random: &rig.random)
        _ = try rig.perform(.hold(true))
        #expect([rig.call.legState(.caller), rig.call.legState(.callee)] == [.onDoubleHold, .onDoubleHold])
        _ = try rig.perform(.hold(false))
        #expect([rig.call.legState(.caller), rig.call.legState(.callee)] == [.onHold, .remotelyHeld])
    }

    /// The answer to `inactive` is `inactive`, whether the application holds or not.
    @Test func `a hold that crosses that of the application is answered, and what that leaves unsaid is offered again`()
        throws
    {
        var rig = try Rig.talking()
        _ = rig.call.mediaAdvanced(.caller, to: .secured)
        #expect(try rig.perform(.hold(true)).descriptions(.startCallUpdate).count == 1)
        let crossed = try rig.hold(version: 2)
        #expect(crossed.descriptions(.respondCallUpdate).count == 1)
        #expect(crossed.descriptions(.startCallUpdate).isEmpty)
        #expect(rig.call.nextDeadline == Deadline(rig.clock.now + Exchange.settlingTime, .news(.caller)))
        let offer = try #require(rig.pass().descriptions(.startCallUpdate).first)
        #expect(try ScriptedDescription.direction(offer) == .sendOnly)
        _ = try rig.accept(.inactive, version: 3)
        #expect([rig.call.legState(.caller), rig.call.legState(.callee)] == [.onDoubleHold, .onDoubleHold])
    }

    /// Two requests of one client overtake each other: it has answered what the application did, and then holds. The
    /// application takes back what it did, which the answer to `inactive` cannot tell.
    ///
    /// - Parameters:
    ///   - holds: the application holds and resumes; otherwise it has held, resumes and holds.
    ///   - isLate: the answer comes after all that.
    @Test(arguments: [true, false], [true, false])
    func `who has answered before its own hold is told what comes after`(_ holds: Bool, _ isLate: Bool) throws {
        var rig = try Rig.talking()
        _ = rig.call.mediaAdvanced(.caller, to: .secured)
        if !holds {
            _ = try rig.perform(.hold(true))
            _ = try rig.accept(.receiveOnly, version: 2)
        }
        #expect(try rig.perform(.hold(holds)).descriptions(.startCallUpdate).count == 1)
        let crossed = try rig.hold(version: 4)
        #expect(crossed.descriptions(.respondCallUpdate).count == 1)
        if !isLate { #expect(try rig.accept(holds ? .receiveOnly : .sendReceive, version: 3).isEmpty) }
        var told = try rig.perform(.hold(!holds))
        if isLate { told += try rig.accept(holds ? .receiveOnly : .sendReceive, version: 3) }
        if told.descriptions(.startCallUpdate).isEmpty { told += rig.pass() }
        let offer = try #require(told.descriptions(.startCallUpdate).first)
        #expect(try ScriptedDescription.direction(offer) == (holds ? .sendReceive : .sendOnly))
        _ = try rig.accept(.inactive, version: 5)
        #expect(rig.call.legState(.caller) == (holds ? .onHold : .onDoubleHold))
    }

    @Test func `an application that holds a conference is neither heard nor hears`() throws {
        var world = try CallWorld.joined(by: .application(.silence))
        try world.act(CallID(3)) { call, random, now throws(CallError) in
            try call.perform(.hold(true), by: .caller, at: now, random: &random)
        }
        #expect(world.routes[CallID(3)] == [.caller: .silence, LegID(2): .mix, LegID(3): .mix])
        try world.act(CallID(3)) { call, random, now throws(CallError) in
            try call.perform(.hold(false), by: .caller, at: now, random: &random)
        }
        #expect(world.routes[CallID(3)]?[.caller] == .mix)
    }

    @Test func `an application that refuses a transfer leaves the others as they were, with its reason`() throws {
        var world = CallWorld()
        world.add(try MidCallRig(id: 1, session: "B").call, keeper: .caller)
        var target = LegID.caller
        try world.act(CallID(1)) { call, random, now throws(CallError) in
            target = call.takeLeg()
            let party = CallParty(user: MidCallRig.carol, name: "Menu", session: "C", endpoint: .application(.silence))
            return try call.transfer(
                by: .caller, to: CallTarget(leg: target, party: party, identity: nil), at: now, random: &random)
        }
        try world.act(CallID(1)) { call, random, now throws(CallError) in
            try call.perform(.refuse(.busy), by: target, at: now, random: &random)
        }
        #expect(world.log("a1") == ["sessionFail 486 User busy"])
        #expect(world.calls[CallID(1)]?.legState(.caller) == .inCall)
    }

    // MARK: Who may

    @Test func `only an application may, and only about its own leg`() throws {
        var rig = try Rig.talking()
        let before = rig.call
        for command in [HeadlessCommand.hold(true), .say(.stop), .progress, .refuse(.busy)] {
            #expect(throws: CallError.notAllowed(.play, .noApplication)) { try rig.perform(command, by: .caller) }
        }
        #expect(throws: CallError.noSuchCall) { try rig.perform(.say(.stop), by: LegID(9)) }
        #expect(throws: CallError.self) { try rig.perform(.progress) }
        #expect(throws: CallError.self) { try rig.perform(.refuse(.busy)) }
        #expect(rig.call == before)
    }

    @Test func `keys, played lists and gathered keys are told to the application alone`() throws {
        var rig = try Rig.talking()
        let list = PlayedList(number: 3, tag: "t", heard: 40, outcome: .stopped)
        let keys = GatheredKeys(keys: [.one], outcome: .maximum, tag: nil)
        #expect(facts(rig.call.played(list, by: .callee), of: .callee) == [.played(list)])
        #expect(facts(try rig.perform(.gathered(keys)), of: .callee) == [.gathered(keys)])
        let pressed = rig.call.keyPressed(.pound, milliseconds: nil, by: .caller)
        #expect(facts(pressed, of: .callee) == [.keyPressed(key: .pound, milliseconds: nil, of: .caller)])
        #expect(pressed.count == 1 && pressed.told.isEmpty)
        _ = try rig.call.end(by: .caller, from: nil, reasonText: nil, at: rig.clock.now)
        #expect(rig.call.played(list, by: .callee).isEmpty)
        #expect(rig.call.keyPressed(.one, milliseconds: 1, by: .caller).isEmpty)
    }

    @Test func `digits that a client has sent reach an application as keys at once`() throws {
        var rig = try Rig.talking()
        let digits = try #require(DigitSequence("1,#", duration: .milliseconds(80)))
        let sent = try rig.call.sendDigits(digits, to: .both, by: .caller, at: rig.clock.now)
        #expect(media(sent) == ["press 1,# to caller"])
        #expect(
            facts(sent, of: .callee) == [
                .keyPressed(key: .one, milliseconds: 80, of: .caller),
                .keyPressed(key: .pound, milliseconds: 80, of: .caller),
            ])
    }

    @Test func `a client cannot send an application more digits than another leg`() throws {
        var rig = try Rig.talking()
        let most = try #require(DigitSequence(String(repeating: "1", count: DigitSequence.maximumCount)))
        let one = try #require(DigitSequence("1"))
        #expect(
            facts(try rig.call.sendDigits(most, to: .peer, by: .caller, at: rig.clock.now), of: .callee).count
                == DigitSequence.maximumCount)
        let before = rig.call
        for target in [MediaTarget.peer, .both] {
            #expect(throws: CallError.self) {
                try rig.call.sendDigits(one, to: target, by: .caller, at: rig.clock.now)
            }
        }
        #expect(rig.call == before)
        rig.clock.advance(by: .seconds(60))
        #expect(
            facts(try rig.call.sendDigits(one, to: .peer, by: .caller, at: rig.clock.now), of: .callee).count == 1)
    }

    @Test func `the source of a leg can be chosen until it talks`() throws {
        var (rig, _) = try Rig.called()
        #expect(try rig.perform(.become(.echo(delay: .seconds(1)))).isEmpty)
        let answered = try rig.call.answer(
            by: .callee, CallAnswerRequest(sdp: ""), at: rig.clock.now, random: &rig.random)
        #expect(answered.contains(.prepareHeadless(.callee, .echo(delay: .seconds(1)))))
    }
}
