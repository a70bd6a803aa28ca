import CallControl
import CallRuntime
import CallSupport
import Primitives
import Push
import Registration
import SDP
import SPiDR
import TestSupport
import Testing

/// Calls that wait for a device which a push wakes (spidr-wire §11.2): Alice calls Bob, whose phone and tablet can be
/// woken.
@Suite struct `Parked calls` {
    private let alice = RuntimeRig.alice
    private let bob = RuntimeRig.bob
    private let carol = RuntimeRig.carol

    /// Alice listens on socket 1; Bob's phone is asleep.
    private func serve(
        _ configuration: LocalSwitchboard.Configuration = .init(media: .direct),
        asleep devices: [(PushDeviceID, String?)] = [("p1", "phone")], journal: any Journal = VolatileJournal(),
        _ test: (RuntimeRig) async throws -> Void
    ) async throws {
        let rig = RuntimeRig(configuration, journal: journal)
        rig.pushes.register(devices, of: bob)
        try await rig.serve { rig in
            try await rig.register(alice, on: 1)
            try await test(rig)
        }
    }

    private func count(_ type: Notification.EventType, on socket: UInt64, _ rig: RuntimeRig) -> Int {
        rig.recorder.frames(socket).count { $0.notification.type == type }
    }

    /// Waits for so many pushes, and shows the last one.
    private func pushes(_ count: Int, _ rig: RuntimeRig) async -> [String] {
        await rig.wait { rig.pushes.sent.count >= count }
        await rig.settle()
        return rig.pushes.sent.map(\.trace)
    }

    @Test func `a user whose devices are all asleep is woken, answers and talks`() async throws {
        try await serve { rig in
            let own = try await rig.call()
            await rig.expect(["ringing"], on: 1)
            #expect(await pushes(1, rig) == ["p1 call"])
            let push = try #require(rig.pushes.sent.first)
            guard case .call(let told) = push.occasion, case .invited(let devices, let invitation) = told.event.fact
            else {
                Issue.record("no call was pushed")
                return
            }
            #expect(devices.isEmpty && invitation.description == "offer")
            #expect(push.user == bob && push.expiresAt - push.madeAt == 60_000)
            #expect(told.event.audience?.remote == .user(DisplayName(name: "Alice", number: alice.text)))
            let session = try #require(told.event.audience?.session)

            // Its credentials are enough to ask about the call.
            #expect(try await rig.switchboard.callSession(bob, session).session == session)
            #expect(await rig.switchboard.callSessions(bob).map(\.session) == [session])
            try await rig.register(bob, on: 2, feedback: true, correlator: "phone")
            #expect(try await rig.incoming(on: 2) == session)
            let frame = try #require(rig.recorder.frames(2).first)
            #expect(frame.notification.sdp == "offer" && frame.notification.parties?.callerName == "Alice")
            try await rig.switchboard.ringing(bob, session)
            try await rig.switchboard.answer(bob, session, CallAnswerRequest(sdp: "answer"))
            await rig.wait { rig.recorder.trace(1).contains("respondCallUpdate") }
            try await rig.switchboard.end(alice, own, reasonText: nil)
            await rig.expect(["call", "callCancel", "callEnd"], on: 2)
            #expect(await pushes(1, rig) == ["p1 call"], "it was told the end over its channel")
            #expect(rig.pushes.withdrawn == ["\(session.rawValue) p1"])
            #expect(rig.observer.counts.wakes == [1, 1, 0])
        }
    }

    @Test func `the caller hears that it rings once the device is awake, if that is configured`() async throws {
        var configuration = LocalSwitchboard.Configuration(media: .direct)
        configuration.call.wakingProgress = .whenAwake
        try await serve(configuration) { rig in
            _ = try await rig.call()
            #expect(await pushes(1, rig) == ["p1 call"])
            #expect(rig.recorder.trace(1).isEmpty)
            try await rig.register(bob, on: 2, correlator: "phone")
            await rig.expect(["ringing"], on: 1)
        }
    }

    @Test func `a device that is awake rings beside one that is woken`() async throws {
        try await serve(asleep: [("p1", "phone"), ("p2", "laptop"), ("p3", "tablet")]) { rig in
            try await rig.register(bob, on: 2, correlator: "laptop")
            // This one has a subscription, and nobody listens.
            _ = try await rig.switchboard.subscribe(
                bob, SubscriptionRequest(services: ["call"], clientCorrelator: "tablet"))
            _ = try await rig.call()
            #expect(await pushes(2, rig) == ["p1 call", "p3 call"])
            try await rig.switchboard.answer(bob, rig.incoming(on: 2), CallAnswerRequest(sdp: "answer"))
            #expect(
                await pushes(4, rig).suffix(2) == ["p1 callOver answeredElsewhere", "p3 callOver answeredElsewhere"])
        }
    }

    @Test func `a subscription whose channel opens again hears the end there`() async throws {
        try await serve { rig in
            let grant = try await rig.switchboard.subscribe(
                bob, SubscriptionRequest(services: ["call"], clientCorrelator: "phone"))
            let own = try await rig.call()
            #expect(await pushes(1, rig) == ["p1 call"])
            #expect(await rig.switchboard.channelOpened(bob, grant.channel, on: SocketID(2), since: nil))
            await rig.expect(["call"], on: 2)
            await rig.settle()
            try await rig.switchboard.end(alice, own, reasonText: nil)
            await rig.expect(["call", "callEnd"], on: 2)
            #expect(await pushes(1, rig) == ["p1 call"])
        }
    }

    @Test func `a device declines from the push, without subscription and channel`() async throws {
        try await serve { rig in
            _ = try await rig.call()
            let session = try await session(rig)
            await #expect(throws: CallError.notAllowed(.answer, .noSubscription)) {
                try await rig.switchboard.answer(bob, session, CallAnswerRequest(sdp: "answer"))
            }
            try await rig.switchboard.reject(bob, session, replacement: false)
            await rig.wait { count(.callEnd, on: 1, rig) == 1 }
            #expect(rig.recorder.frames(1).last?.notification.statusCode == 603)
            // It knows that it has declined.
            #expect(await pushes(1, rig) == ["p1 call"])
            #expect(rig.pushes.withdrawn == ["\(session.rawValue) all"])
            await #expect(throws: CallError.noSuchCall) {
                try await rig.switchboard.reject(bob, session, replacement: false)
            }
        }
    }

    @Test func `two devices that wake answer together, and one has the call`() async throws {
        try await serve(asleep: [("p1", "phone"), ("p2", "tablet")]) { rig in
            _ = try await rig.call()
            let phone = try await rig.register(bob, on: 2, correlator: "phone")
            let tablet = try await rig.register(bob, on: 3, correlator: "tablet")
            let session = try await rig.incoming(on: 2)
            #expect(try await rig.incoming(on: 3) == session)
            let wins = await withTaskGroup(of: Bool.self) { group in
                for device in [phone.subscription, tablet.subscription] {
                    group.addTask {
                        do {
                            try await rig.switchboard.answer(
                                RuntimeRig.bob, session, CallAnswerRequest(sdp: "from \(device.rawValue)"),
                                from: device)
                            return true
                        } catch {
                            return false
                        }
                    }
                }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(wins == 1)
            await rig.wait { count(.callCancel, on: 2, rig) + count(.callCancel, on: 3, rig) == 2 }
            #expect(await pushes(2, rig) == ["p1 call", "p2 call"])
        }
    }

    @Test func `the caller gives up before anybody is back`() async throws {
        try await serve { rig in
            let own = try await rig.call()
            try await rig.switchboard.end(alice, own, reasonText: nil)
            #expect(await pushes(2, rig) == ["p1 call", "p1 callOver remoteEnded"])
            let session = try await session(rig)
            // The device comes too late, as any other does.
            try await rig.register(bob, on: 2, correlator: "phone")
            await #expect(throws: CallError.noSuchCall) { try await rig.switchboard.callSession(bob, session) }
            await #expect(throws: CallError.noSuchCall) {
                try await rig.switchboard.answer(bob, session, CallAnswerRequest(sdp: "answer"))
            }
            await rig.settle()
            #expect(rig.recorder.trace(2).isEmpty)
            #expect(Set(rig.pushes.sent.map(\.name)).count == 2, "each push has a name of its own")
        }
    }

    @Test func `the time of the call is over`() async throws {
        try await serve { rig in
            _ = try await rig.call()
            #expect(await pushes(1, rig) == ["p1 call"])
            rig.clock.advance(by: .seconds(60))
            await rig.wait { count(.callEnd, on: 1, rig) == 1 }
            #expect(rig.recorder.frames(1).last?.notification.statusCode == 487)
            #expect(await pushes(2, rig).last == "p1 callOver unanswered")
            let records = try await rig.switchboard.callRecords(bob, from: 0, count: 9)
            #expect(records.map(\.direction) == [.missed])
        }
    }

    @Test func `a gateway that stops tells the devices that it has woken`() async throws {
        try await serve { rig in
            _ = try await rig.call()
            #expect(await pushes(1, rig) == ["p1 call"])
            await rig.switchboard.drain()
            #expect(await pushes(2, rig).last == "p1 callOver failed")
        }
    }

    @Test func `an app that registers before the push arrives is told once`() async throws {
        try await serve { rig in
            async let calling = rig.call()
            try await rig.register(bob, on: 2, correlator: "phone")
            let own = try await calling
            await rig.expect(["call"], on: 2)
            try await rig.switchboard.end(alice, own, reasonText: nil)
            await rig.expect(["call", "callEnd"], on: 2)
            await rig.settle()
            #expect(rig.pushes.sent.allSatisfy { $0.trace == "p1 call" })
        }
    }

    @Test func `a registration that is removed while it rings changes nothing for the call`() async throws {
        try await serve { rig in
            let own = try await rig.call()
            #expect(await pushes(1, rig) == ["p1 call"])
            rig.pushes.register([], of: bob)
            await rig.settle()
            #expect(try await rig.switchboard.callSession(alice, own).progress == .ringing)
            try await rig.switchboard.end(alice, own, reasonText: nil)
            // Whoever sends pushes finds no registration to send it to.
            #expect(await pushes(2, rig).last == "p1 callOver remoteEnded")
            // The next call finds nobody.
            _ = try await rig.call(sdp: "again")
            await rig.settle()
            rig.clock.advance(by: .milliseconds(250))
            await rig.wait { count(.callEnd, on: 1, rig) == 2 }
            #expect(rig.recorder.frames(1).last?.notification.statusCode == 480)
        }
    }

    @Test func `devices of a user who does not exist any more are not woken`() async throws {
        let stranger = UserAddress(parsing: "removed@example.com")!
        try await serve { rig in
            rig.pushes.register([("p9", "phone")], of: stranger)
            _ = try await rig.call(stranger)
            await rig.settle()
            rig.clock.advance(by: .milliseconds(250))
            await rig.wait { count(.callEnd, on: 1, rig) == 1 }
            #expect(rig.recorder.frames(1).last?.notification.statusCode == 404)
            #expect(rig.pushes.sent.isEmpty)
        }
    }

    @Test func `a forward and a transfer wake their targets`() async throws {
        let offer = try Fixtures.text("sdp/chromium-156/offer-audio-video.sdp")
        let answer = try Fixtures.text("sdp/chromium-156/answer-to-chromium-offer.sdp")
        try await serve(.init(media: .anchored)) { rig in
            try await rig.register(carol, on: 3)
            _ = try await rig.call(carol, sdp: offer)
            try await rig.switchboard.forward(carol, rig.incoming(on: 3), to: bob)
            #expect(await pushes(1, rig) == ["p1 call"])
            try await rig.register(bob, on: 2, correlator: "phone")
            let session = try await rig.incoming(on: 2)
            try await rig.switchboard.answer(bob, session, CallAnswerRequest(sdp: answer))
            rig.pushes.register([("p3", "phone"), ("p4", "tablet")], of: carol)
            _ = try await rig.switchboard.subscribe(
                carol, SubscriptionRequest(services: ["IM"], forceLogOut: true))
            try await rig.switchboard.transfer(bob, session, to: carol, consultation: nil)
            #expect(await pushes(3, rig).last == "p4 call")
            try await rig.switchboard.reject(carol, self.session(rig), replacement: false)
            await rig.wait { count(.sessionFail, on: 2, rig) == 1 }
            #expect(await pushes(5, rig).last == "p4 callOver declinedElsewhere video")
        }
    }

    @Test func `click-to-call wakes its target, and not the one who asks`() async throws {
        var configuration = LocalSwitchboard.Configuration(media: .anchored)
        configuration.call.mediaPolicy = .engine
        try await serve(configuration) { rig in
            rig.pushes.register([("p7", "mobile")], of: alice)
            _ = try await rig.switchboard.perform(.connect(to: bob), by: alice, from: nil)
            let answer = ScriptedAnswer.audio
            try await rig.switchboard.answer(alice, rig.incoming(on: 1), CallAnswerRequest(sdp: answer))
            #expect(await pushes(1, rig) == ["p1 call"])
        }
    }

    // MARK: Budgets

    @Test func `one caller wakes a phone five times, others more often, and then it sleeps`() async throws {
        try await serve { rig in
            try await rig.register(carol, on: 3)
            func wake(from caller: UserAddress, _ number: Int) async throws -> Bool {
                let before = rig.pushes.sent.count
                let session = try await rig.call(bob, from: caller, sdp: "offer \(number)")
                await rig.settle()
                let isWoken = rig.pushes.sent.count > before
                if isWoken { try await rig.switchboard.end(caller, session, reasonText: nil) }
                await rig.settle()
                rig.clock.advance(by: .milliseconds(250))
                await rig.wait { rig.observer.counts.ended.count == rig.observer.counts.started }
                return isWoken
            }
            for number in 0..<5 { #expect(try await wake(from: alice, number)) }
            #expect(try await !wake(from: alice, 5))
            // As if there were no phone.
            await rig.wait { rig.recorder.frames(1).last?.notification.statusCode == 480 }
            #expect(rig.observer.counts.asleep == [.caller])
            for number in 10..<15 { #expect(try await wake(from: carol, number)) }
            rig.clock.advance(by: .seconds(60))
            // Alice may wake him once more, and so may Carol; the registration has remembered that meanwhile.
            #expect(try await wake(from: alice, 20))
            #expect(try await !wake(from: alice, 21))
            #expect(try await wake(from: carol, 22))
            #expect(try await !wake(from: carol, 23))
            #expect(rig.observer.counts.asleep == [.caller, .caller, .caller])
        }
    }

    @Test func `all callers together wake a phone so often, and awake devices ring all the same`() async throws {
        var configuration = LocalSwitchboard.Configuration(media: .direct)
        configuration.registration.wakes.perUser = .init(burst: 1, interval: .seconds(30))
        try await serve(configuration) { rig in
            try await rig.register(carol, on: 3)
            try await rig.register(bob, on: 2, correlator: "laptop")
            _ = try await rig.call()
            _ = try await rig.call(bob, from: carol)
            await rig.expect(["call", "call"], on: 2)
            #expect(await pushes(1, rig) == ["p1 call"])
            #expect(rig.observer.counts.asleep == [.user])
        }
    }

    @Test func `a call that finds the line full wakes nobody`() async throws {
        var configuration = LocalSwitchboard.Configuration(media: .direct)
        configuration.registration.maximumRinging = 1
        try await serve(configuration) { rig in
            try await rig.register(carol, on: 3)
            _ = try await rig.call()
            _ = try await rig.call(bob, from: carol)
            await rig.settle()
            rig.clock.advance(by: .milliseconds(250))
            await rig.wait { count(.callEnd, on: 3, rig) == 1 }
            #expect(rig.recorder.frames(3).last?.notification.statusCode == 486)
            #expect(await pushes(1, rig) == ["p1 call"])
        }
    }

    // MARK: Restart

    /// The gateway is killed after each entry that it has written: whoever was woken is told the end, once.
    @Test func `whenever the gateway is killed, a device that was woken learns that the call is over`() async throws {
        let journal = RecordingJournal()
        try await serve(asleep: [("p1", "phone"), ("p2", "tablet")], journal: journal) { rig in
            let own = try await rig.call()
            try await rig.register(bob, on: 2, correlator: "phone")
            _ = try await rig.incoming(on: 2)
            await rig.settle()
            try await rig.switchboard.end(alice, own, reasonText: nil)
            await rig.expect(["call", "callEnd"], on: 2)
            await rig.settle()
        }
        for count in 0...journal.entries.count {
            let entries = Array(journal.entries.prefix(count))
            let facts = entries.compactMap { if case .event(let entry) = $0 { entry.event.fact } else { nil } }
            var waiting: Set<PushDeviceID> = []
            for fact in facts {
                switch fact {
                case .waking(let devices, _): waiting.formUnion(devices)
                case .awoke(let device, _): waiting.remove(device)
                case .wakingOver(let devices, _, _): waiting.subtract(devices)
                default: break
                }
            }
            let second = RuntimeRig(journal: RecordingJournal(entries), takesOver: true)
            await second.switchboard.restore(journal.contents(after: count, at: ManualClock().epochMilliseconds))
            let owed = second.pushes.sent
            #expect(Set(owed.map(\.device)) == waiting && owed.count == waiting.count, "after \(count) entries")
            #expect(owed.allSatisfy { $0.trace.hasSuffix("callOver failed") && $0.user == bob })
        }
    }

    /// The user's session of the last call that was pushed.
    private func session(_ rig: RuntimeRig) async throws -> SessionID {
        await rig.wait { !rig.pushes.sent.isEmpty }
        let calls = rig.pushes.sent.compactMap { if case .call(let told) = $0.occasion { told } else { nil } }
        return try #require(calls.last?.event.audience?.session)
    }
}

extension OwedPush {
    fileprivate var trace: String {
        switch occasion {
        case .call: "\(device.rawValue) call"
        case .callOver(_, let hasVideo, let ending):
            "\(device.rawValue) callOver \(ending.rawValue)\(hasVideo ? " video" : "")"
        case .gone, .messageWaiting, .refresh: "\(device.rawValue) silent"
        }
    }
}

private enum ScriptedAnswer {
    static let audio = [
        "v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0", "m=audio 9 UDP/TLS/RTP/SAVPF 111",
        "c=IN IP4 0.0.0.0", "a=mid:0", "a=sendrecv", "a=rtpmap:111 opus/48000/2", "a=rtcp-mux", "a=ice-ufrag:user1",
        "a=ice-pwd:password+password+password", "a=setup:active",
        "a=fingerprint:sha-256 \(Array(repeating: "AB", count: 32).joined(separator: ":"))", "",
    ].joined(separator: "\r\n")
}
