import CallControl
import CallRuntime
import CallSupport
import Primitives
import SDP
import SPiDR
import TestSupport
import Testing

/// Calls that an application controls by commands.
struct ApplicationCallTests {
    let alice = RuntimeRig.alice
    let bob = RuntimeRig.bob
    let name: ApplicationIdentity
    let address: UserAddress
    let offer: String

    init() throws {
        name = try #require(ApplicationIdentity("menu#1"))
        address = try #require(UserAddress(parsing: "menu@bots.example.com"))
        offer = try Fixtures.text("sdp/chromium-156/offer-audio.sdp")
    }

    func application(
        _ change: (inout RegisteredApplication) -> Void = { _ in }
    ) throws -> RegisteredApplication {
        var application = RegisteredApplication(
            identity: name, displayName: "Menu", addresses: [try #require(ApplicationAddress("*@bots.example.com"))])
        change(&application)
        return application
    }

    func serve(
        _ application: RegisteredApplication, _ test: (RuntimeRig) async throws -> Void
    ) async throws {
        var configuration = LocalSwitchboard.Configuration(media: .anchored)
        configuration.call.mediaPolicy = .engine
        try await RuntimeRig(configuration, applications: [application]).serve { rig in
            try await rig.register(alice, on: 1)
            try await test(rig)
            await rig.switchboard.drain()
            // Calls that are over are remembered for a while.
            await rig.switchboard.setApplications([])
            await rig.settle()
        }
    }

    /// The call of Alice to the application, once the application knows of it.
    func incoming(
        _ rig: RuntimeRig, earlyMedia: Bool = false, content: CustomContent = CustomContent()
    ) async throws -> (SessionID, ApplicationCall) {
        let own = try await rig.switchboard.startCall(
            alice, CallStartRequest(callee: address, sdp: offer, acceptsEarlyMedia: earlyMedia, content: content))
        for _ in 0..<10_000 {
            let calls = await rig.switchboard.calls(of: name)
            if let call = calls.first(where: { $0.direction == .incoming && $0.state.phase != .ended }) {
                #expect(call.from == alice, "who calls is known as soon as the call is shown")
                return (own, call)
            }
            await Task.yield()
        }
        throw ApplicationRefusal.noSuchCall
    }

    func perform(
        _ rig: RuntimeRig, _ command: ApplicationCommand, _ id: SessionID, expecting version: UInt64? = nil
    ) async throws(ApplicationRefusal) -> ApplicationCall {
        try await rig.switchboard.perform(command, in: id, by: name, expecting: version)
    }

    func look(_ rig: RuntimeRig, _ id: SessionID, until isDone: (ApplicationCall) -> Bool) async throws
        -> ApplicationCall
    {
        for _ in 0..<10_000 {
            let call = try await rig.switchboard.call(id, of: name)
            if isDone(call) { return call }
            await Task.yield()
        }
        Issue.record("it never came: \(try await rig.switchboard.call(id, of: name))")
        return try await rig.switchboard.call(id, of: name)
    }

    func spoken(_ rig: RuntimeRig) -> [Speech] {
        rig.recorder.mediaCommands.compactMap { if case .say(_, let speech) = $0 { speech } else { nil } }
    }

    @Test func `an application takes a call, plays, gathers and ends it`() async throws {
        try await serve(try application()) { rig in
            let (_, call) = try await incoming(rig)
            #expect(call.to == address && call.fromName == "Alice" && call.direction == .incoming)
            #expect(call.state == .ringing)
            let rung = try await perform(rig, .ring, call.id)
            #expect(rung.version > call.version)
            await rig.expect(["ringing"], on: 1)
            let answered = try await perform(rig, .answer(CustomContent()), call.id)
            #expect(answered.state == .talking && answered.members.map(\.address) == [alice.text])
            await rig.expect(["ringing", "respondCallUpdate"], on: 1)
            let callID = try #require(rig.media.lastCall)
            let menu = PlayList(file: "welcome.wav")
            let gather = try GatherRequest(maximum: 2, prompt: menu, tag: "pin")
            #expect(try await perform(rig, .gather(gather), call.id).gathering == .init(tag: "pin", keys: []))
            #expect(spoken(rig) == [.play(menu, number: 1, tag: "pin", .replace)])
            rig.mediaEvents.post(.keyPressed(.four, milliseconds: 80, .caller), for: callID)
            _ = try await look(rig, call.id) { $0.gathering?.keys == [.four] }
            await rig.wait { spoken(rig).last == .stopList(1) }
            rig.mediaEvents.post(
                .played(PlayedList(number: 1, tag: "pin", heard: 900, outcome: .stopped), .callee), for: callID)
            rig.mediaEvents.post(.keyPressed(.two, milliseconds: 80, .caller), for: callID)
            _ = try await look(rig, call.id) { $0.gathering == nil && $0.playing == nil }
            let result = GatheredKeys(keys: [.four, .two], outcome: .maximum, tag: "pin")
            await rig.wait { rig.events.entries.contains { $0.event.fact == .gathered(result) } }
            let ended = try await perform(rig, .end(reasonText: "bye"), call.id)
            #expect(ended.state.phase == .ended)
            #expect(
                try await look(rig, call.id) { $0.state != .ended(nil) }.state
                    == .ended(.completed(by: .callee, reasonText: "bye")))
        }
    }

    @Test func `nobody decides in time, and the fallback happens`() async throws {
        for (fallback, cause) in [
            (ApplicationFallback.reject(.busy), CallEndCause.unreachable(.busy)),
            (.forward(UserAddress(parsing: "nobody@example.com")!), .rejected(reasonText: nil)),
        ] {
            try await serve(try application { ($0.fallback, $0.decisionTime) = (fallback, .seconds(3)) }) { rig in
                _ = try await incoming(rig)
                await rig.settle()
                rig.clock.advance(by: .milliseconds(2_999))
                await rig.settle()
                #expect(rig.observer.counts.ended.isEmpty)
                rig.clock.advance(by: .milliseconds(1))
                await rig.wait { rig.observer.counts.ended.count == 1 }
                #expect(rig.observer.counts.ended.map(\.cause) == [cause])
            }
        }
    }

    @Test func `after a command that is refused the fallback happens in its time`() async throws {
        try await serve(try application { ($0.fallback, $0.decisionTime) = (.reject(.busy), .seconds(3)) }) { rig in
            let (_, call) = try await incoming(rig)
            await rig.settle()
            rig.clock.advance(by: .seconds(2))
            await #expect(throws: ApplicationRefusal.self) { try await perform(rig, .progress(nil), call.id) }
            await rig.settle()
            rig.clock.advance(by: .milliseconds(999))
            await rig.settle()
            #expect(rig.observer.counts.ended.isEmpty)
            rig.clock.advance(by: .milliseconds(1))
            await rig.wait { rig.observer.counts.ended.count == 1 }
            #expect(rig.observer.counts.ended.map(\.cause) == [.unreachable(.busy)])
        }
    }

    @Test func `an announcement is played, and ends the call`() async throws {
        let list = PlayList(file: "welcome.wav")
        try await serve(try application { ($0.fallback, $0.decisionTime) = (.announce(list), .zero) }) { rig in
            _ = try await incoming(rig)
            await rig.wait { spoken(rig).count == 1 }
            #expect(spoken(rig) == [.play(list, number: 1, tag: nil, .replace)])
            let callID = try #require(rig.media.lastCall)
            rig.mediaEvents.post(
                .played(PlayedList(number: 1, tag: nil, heard: 900, outcome: .completed), .callee), for: callID)
            await rig.wait { rig.observer.counts.ended.count == 1 }
            #expect(rig.observer.counts.ended.map(\.cause) == [.completed(by: .callee, reasonText: nil)])
        }
    }

    @Test func `a caller that offers nothing hears the announcement when it has answered`() async throws {
        let list = PlayList(file: "welcome.wav")
        try await serve(try application { ($0.fallback, $0.decisionTime) = (.announce(list), .zero) }) { rig in
            let own = try await rig.switchboard.startCall(alice, CallStartRequest(callee: address, sdp: ""))
            await rig.expect(["startCallUpdate"], on: 1)
            await rig.settle()
            #expect(spoken(rig).isEmpty, "nobody would hear it")
            let answer = try Fixtures.text("sdp/chromium-156/answer-audio.sdp")
            try await rig.switchboard.respond(alice, own, CallUpdateRequest(sdp: answer))
            await rig.wait { !spoken(rig).isEmpty }
            guard case .play(list, let number, nil, .replace) = spoken(rig).last else {
                Issue.record("\(spoken(rig))")
                return
            }
            let callID = try #require(rig.media.lastCall)
            rig.mediaEvents.post(
                .played(PlayedList(number: number, tag: nil, heard: 900, outcome: .completed), .callee), for: callID)
            await rig.wait { rig.observer.counts.ended.count == 1 }
            #expect(rig.observer.counts.ended.map(\.cause) == [.completed(by: .callee, reasonText: nil)])
        }
    }

    @Test func `a command at the wrong time, or about another version, changes nothing`() async throws {
        try await serve(try application()) { rig in
            let (_, call) = try await incoming(rig)
            await rig.settle()
            let now = try await rig.switchboard.call(call.id, of: name)
            do throws(ApplicationRefusal) {
                _ = try await perform(rig, .hold, call.id)
                Issue.record("it was carried out")
            } catch {
                guard case .notAllowed(let view, let obstacle) = error else {
                    Issue.record("\(error)")
                    return
                }
                #expect(view == now && obstacle == .state(.ringing, .hold))
            }
            await #expect(throws: ApplicationRefusal.versionMismatch(now)) {
                try await perform(rig, .ring, call.id, expecting: now.version + 1)
            }
            await #expect(throws: ApplicationRefusal.notAllowed(now, .noEarlyMedia)) {
                try await perform(rig, .progress(nil), call.id)
            }
            let answered = try await perform(rig, .answer(CustomContent()), call.id, expecting: now.version)
            await #expect(throws: ApplicationRefusal.self) {
                try await perform(rig, .mute, call.id, expecting: answered.version - 1)
            }
            await #expect(throws: ApplicationRefusal.invalid(.unplayable(.notFound("x.wav")))) {
                try await perform(rig, .play(PlayRequest(list: PlayList(file: "x.wav"))), call.id)
            }
            await #expect(throws: ApplicationRefusal.noSuchCall) { try await perform(rig, .ring, SessionID("x")) }
            let other = try #require(ApplicationIdentity("other#2"))
            await #expect(throws: ApplicationRefusal.noSuchCall) {
                try await rig.switchboard.perform(.mute, in: call.id, by: other, expecting: nil)
            }
        }
    }

    @Test func `of equal commands at once, about one version, one is carried out`() async throws {
        try await serve(try application()) { rig in
            let (_, call) = try await incoming(rig)
            let answered = try await perform(rig, .answer(CustomContent()), call.id)
            await rig.settle()
            let version = try await rig.switchboard.call(answered.id, of: name).version
            let list = try PlayList(items: [.music(nil)])
            let done = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<20 {
                    group.addTask { [name] in
                        do {
                            let request = try PlayRequest(list: list)
                            _ = try await rig.switchboard.perform(
                                .play(request), in: call.id, by: name, expecting: version)
                            return true
                        } catch {
                            return false
                        }
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(done == 1)
            #expect(spoken(rig).count == 1)
        }
    }

    @Test func `an application calls from its own addresses alone, with a time to ring of its own`() async throws {
        try await serve(try application()) { rig in
            let request = try ApplicationCallRequest(
                to: alice, from: address, displayName: "Reminder", ringTimeout: .seconds(5),
                content: CustomContent(parameters: [CustomParameter(name: "n", value: "v")]), context: "order 7")
            let call = try await rig.switchboard.start(request, by: name)
            #expect(call.direction == .outgoing && call.state == .ringing && call.context == "order 7")
            await rig.expect(["call"], on: 1)
            let shown = rig.recorder.frames(1).last?.notification.parties
            #expect(shown?.callerName == "Reminder" && shown?.callerDisplayNumber == address.text)
            await rig.settle()
            rig.clock.advance(by: .seconds(5))
            #expect(try await look(rig, call.id) { $0.state.phase == .ended }.state == .ended(.unanswered))
            var stolen = request
            stolen.from = bob
            await #expect(throws: ApplicationRefusal.notOwner(bob)) {
                try await rig.switchboard.start(stolen, by: name)
            }
        }
    }

    @Test func `calls and their rate are limited`() async throws {
        try await serve(
            try application {
                $0.maximumCalls = 2
                $0.callRate = RateAllowance.Rate(burst: 3, interval: .seconds(10))
            }
        ) { rig in
            let request = try ApplicationCallRequest(to: alice, from: address)
            var calls: [ApplicationCall] = []
            for _ in 0..<2 { calls.append(try await rig.switchboard.start(request, by: name)) }
            await #expect(throws: ApplicationRefusal.limited(.callsOfApplication, retryAfter: nil)) {
                try await rig.switchboard.start(request, by: name)
            }
            for call in calls { _ = try await perform(rig, .end(reasonText: nil), call.id) }
            _ = try await look(rig, calls[1].id) { $0.state.phase == .ended }
            _ = try await rig.switchboard.start(request, by: name)
            await #expect(throws: ApplicationRefusal.self) { try await rig.switchboard.start(request, by: name) }
        }
    }

    @Test func `it holds, resumes, mutes, sends and presses keys`() async throws {
        try await serve(try application()) { rig in
            let (own, call) = try await incoming(rig)
            _ = try await perform(rig, .answer(CustomContent()), call.id)
            #expect(try await perform(rig, .mute, call.id).isMuted)
            #expect(try await !perform(rig, .unmute, call.id).isMuted)
            let held = try await perform(rig, .hold, call.id)
            #expect(held.state == .held && !held.allowed.contains(.play))
            #expect(try await rig.switchboard.callSession(alice, own).state == .remotelyHeld)
            #expect(try await perform(rig, .resume, call.id).state == .talking)
            #expect(spoken(rig) == [.mute(true), .mute(false), .pause(true), .pause(false)])
            let content = CustomContent(parameters: [CustomParameter(name: "n", value: "v")])
            _ = try await perform(rig, .send(content), call.id)
            await rig.wait { rig.recorder.trace(1).contains("customParameters") }
            let digits = try #require(DigitSequence("12#"))
            _ = try await perform(rig, .keys(digits), call.id)
            #expect(rig.recorder.mediaCommands.last == .sendDigits(digits, to: .caller))
        }
    }

    @Test func `it transfers a call that talks, and forwards one that rings`() async throws {
        try await serve(try application()) { rig in
            try await rig.register(bob, on: 2)
            let (_, first) = try await incoming(rig)
            let forwarded = try await perform(rig, .transfer(to: bob), first.id)
            #expect(forwarded.state.phase == .ended || forwarded.state == .ringing)
            #expect(try await look(rig, first.id) { $0.state.phase == .ended }.state == .ended(nil))
            let ringing = try await rig.incoming(on: 2)
            try await rig.switchboard.reject(bob, ringing, replacement: false)
            await rig.wait { rig.observer.counts.ended.count == 1 }
            let (_, second) = try await incoming(rig)
            _ = try await perform(rig, .answer(CustomContent()), second.id)
            _ = try await perform(rig, .transfer(to: bob), second.id)
            await rig.wait { rig.recorder.trace(2).count { $0 == "call" } == 2 }
            let rung = try #require(
                rig.recorder.frames(2).last { $0.notification.type == .call }?.notification.session)
            try await rig.switchboard.reject(bob, rung, replacement: false)
            #expect(try await look(rig, second.id) { $0.state == .talking }.state == .talking)
            await #expect(throws: ApplicationRefusal.self) {
                try await perform(rig, .answer(CustomContent()), second.id)
            }
        }
    }

    @Test func `an application that is gone loses its calls, and one that loses an address those there`() async throws {
        try await serve(try application()) { rig in
            let (_, call) = try await incoming(rig)
            _ = try await perform(rig, .answer(CustomContent()), call.id)
            var changed = try application()
            changed.displayName = "Other"
            await rig.switchboard.setApplications([changed])
            await rig.settle()
            #expect(rig.observer.counts.ended.isEmpty, "a new name ends nothing")
            changed.addresses = [try #require(ApplicationAddress("x@bots.example.com"))]
            await rig.switchboard.setApplications([changed])
            await rig.wait { rig.observer.counts.ended.count == 1 }
            let from = try #require(UserAddress(parsing: "x@bots.example.com"))
            let request = try ApplicationCallRequest(to: alice, from: from)
            _ = try await rig.switchboard.start(request, by: name)
            await rig.switchboard.setApplications([])
            await rig.wait { rig.observer.counts.ended.count == 2 }
            await #expect(throws: ApplicationRefusal.unavailable) {
                try await rig.switchboard.start(request, by: name)
            }
            #expect(await rig.switchboard.calls(of: name).isEmpty)
        }
    }

    @Test func `a caller hears the application before the answer`() async throws {
        try await serve(try application()) { rig in
            let (_, call) = try await incoming(rig, earlyMedia: true)
            let list = PlayList(file: "welcome.wav")
            let early = try await perform(rig, .progress(list), call.id)
            #expect(early.state == .progressing && early.allowed.contains(.gather))
            await rig.expect(["sessionProgress"], on: 1)
            #expect(spoken(rig) == [.play(list, number: 1, tag: nil, .replace)])
            #expect(try await perform(rig, .answer(CustomContent()), call.id).state == .talking)
        }
    }
}
