import CallControl
import CallRuntime
import CallSupport
import Primitives
import TestSupport
import Testing

/// How many calls an application has, and what becomes of them when it changes.
extension ApplicationCallTests {
    @Test func `calls that are started at once are not more than may be`() async throws {
        try await serve(try application { $0.maximumCalls = 2 }) { rig in
            let request = try ApplicationCallRequest(to: alice, from: address)
            let started = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<20 {
                    group.addTask { [name] in
                        do {
                            _ = try await rig.switchboard.start(request, by: name)
                            return true
                        } catch {
                            return false
                        }
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(started == 2)
        }
    }

    @Test func `a call that is being opened counts, however far it has come when the next is started`() async throws {
        var (steps, isUnderWay) = (0, true)
        while isUnderWay {
            try await serve(try application { $0.maximumCalls = 1 }) { rig in
                let request = try ApplicationCallRequest(to: alice, from: address)
                let executors = [SteppedExecutor(), SteppedExecutor()]
                let start = { [name] (executor: SteppedExecutor) in
                    executor.start { _ = try await rig.switchboard.start(request, by: name) }
                }
                let first = start(executors[0])
                for _ in 0..<steps { _ = await executors[0].step() }
                isUnderWay = !executors[0].isFinished
                let second = start(executors[1])
                while !executors[1].isFinished {
                    // Where the first is in the way of the second it goes on.
                    if await !executors[1].step() { _ = await executors[0].step() }
                }
                while !executors[0].isFinished { _ = await executors[0].step() }
                var started = 0
                for result in [await first.result, await second.result] {
                    if case .success = result { started += 1 }
                }
                #expect(started == 1, "after \(steps) steps of the first")
            }
            steps += 1
        }
        #expect(steps > 5, "the second came while the first was being opened")
    }

    @Test func `a page of calls asks no more calls than it has`() async throws {
        try await serve(try application()) { rig in
            // A caller whose callee is not there hears so for a moment, so that the calls go on.
            let nobody = try #require(UserAddress(parsing: "nobody@example.com"))
            let request = try ApplicationCallRequest(to: nobody, from: address)
            for _ in 0..<30 { _ = try await rig.switchboard.start(request, by: name) }
            await rig.settle()
            var steps: [Int] = []
            for limit in [1, 30] {
                let executor = SteppedExecutor()
                let asked = executor.start { [name] in
                    let page = await rig.switchboard.calls(of: name, ApplicationCallFilter(), after: nil, limit: limit)
                    #expect(page.count == limit)
                }
                var count = 0
                while !executor.isFinished {
                    if await executor.step() { count += 1 }
                }
                try await asked.value
                steps.append(count)
            }
            #expect(steps[0] * 5 < steps[1], "there is a step to each call that is asked, and one back: \(steps)")
        }
    }

    @Test func `calls are listed by filter and place, in the order of their starts`() async throws {
        try await serve(try application()) { rig in
            let nobody = try #require(UserAddress(parsing: "nobody@example.com"))
            let request = try ApplicationCallRequest(to: nobody, from: address)
            var started: [SessionID] = []
            for _ in 0..<4 {
                started.append(try await rig.switchboard.start(request, by: name).id)
                rig.clock.advance(by: .milliseconds(2))
            }
            _ = try await perform(rig, .end(reasonText: nil), started[1])
            _ = try await look(rig, started[1]) { $0.state.phase == .ended }
            func listed(
                _ filter: ApplicationCallFilter, after place: ApplicationCallPlace? = nil, limit: Int = 10
            ) async -> [SessionID] {
                await rig.switchboard.calls(of: name, filter, after: place, limit: limit).map(\.id)
            }
            #expect(await listed(ApplicationCallFilter()) == started)
            #expect(await listed(ApplicationCallFilter(phase: .ended)) == [started[1]])
            #expect(await listed(ApplicationCallFilter(phase: .ringing), limit: 2) == [started[0], started[2]])
            #expect(await listed(ApplicationCallFilter(direction: .incoming)).isEmpty)
            let second = ApplicationCallPlace(of: try await rig.switchboard.call(started[1], of: name))
            #expect(await listed(ApplicationCallFilter(), after: second) == Array(started[2...]))
        }
    }

    @Test func `an application wakes a phone as often as one caller, from whichever of its addresses`() async throws {
        try await serve(try application()) { rig in
            rig.pushes.register([("p1", "phone")], of: bob)
            for number in 0..<6 {
                let own = try #require(UserAddress(parsing: "menu\(number)@bots.example.com"))
                let before = rig.pushes.sent.count
                let call = try await rig.switchboard.start(ApplicationCallRequest(to: bob, from: own), by: name)
                await rig.settle()
                #expect((rig.pushes.sent.count > before) == (number < 5), "call \(number)")
                if number < 5 { _ = try await perform(rig, .end(reasonText: nil), call.id) }
                await rig.settle()
            }
            #expect(rig.observer.counts.asleep == [.caller])
        }
    }

    @Test func `an application that goes while a call is placed does not keep the call`() async throws {
        try await serve(try application { $0.decisionTime = .seconds(60) }) { rig in
            for turns in 0..<40 {
                async let outgoing: Void = start(rig)
                async let incoming: Void = call(rig)
                for _ in 0..<turns { await Task.yield() }
                if turns.isMultiple(of: 2) {
                    await rig.switchboard.setApplications([])
                } else {
                    let other = try #require(ApplicationAddress("x@other.example.com"))
                    await rig.switchboard.setApplications([try application { $0.addresses = [other] }])
                }
                _ = await (outgoing, incoming)
                await rig.settle()
                // A caller whose callee is not there hears so for a moment.
                rig.clock.advance(by: .seconds(1))
                await rig.wait { rig.observer.counts.ended.count == rig.observer.counts.started }
                await rig.switchboard.setApplications([try application { $0.decisionTime = .seconds(60) }])
            }
            #expect(rig.observer.counts.started > 40)
        }
    }

    /// The application calls Alice, if it still may.
    private func start(_ rig: RuntimeRig) async {
        do {
            _ = try await rig.switchboard.start(ApplicationCallRequest(to: alice, from: address), by: name)
        } catch {
            // It is gone already.
        }
    }

    /// Alice calls the application.
    private func call(_ rig: RuntimeRig) async {
        do {
            _ = try await rig.switchboard.startCall(alice, CallStartRequest(callee: address, sdp: offer))
        } catch {
            Issue.record(error)
        }
    }

    @Test func `of calls that are over the last thousand are shown`() async throws {
        try await serve(try application()) { rig in
            let nobody = try #require(UserAddress(parsing: "nobody@example.com"))
            let request = try ApplicationCallRequest(to: nobody, from: address)
            var calls: [SessionID] = []
            for _ in 0..<1_003 {
                let call = try await rig.switchboard.start(request, by: name)
                _ = try await perform(rig, .end(reasonText: nil), call.id)
                // They are forgotten in the order of their ends.
                _ = try await look(rig, call.id) { $0.state.phase == .ended }
                calls.append(call.id)
            }
            await rig.wait { rig.observer.counts.ended.count == 1_003 }
            await rig.settle()
            #expect(Set(await rig.switchboard.calls(of: name).map(\.id)) == Set(calls.suffix(1_000)))
            await #expect(throws: ApplicationRefusal.noSuchCall) { try await rig.switchboard.call(calls[0], of: name) }
        }
    }

    @Test func `an application keeps its call when another one gets an address of its domain`() async throws {
        let first = try application()
        try await serve(first) { rig in
            let (_, call) = try await incoming(rig)
            _ = try await perform(rig, .answer(CustomContent()), call.id)
            let other = RegisteredApplication(
                identity: try #require(ApplicationIdentity("other#2")), displayName: "",
                addresses: [ApplicationAddress(address)])
            // The second time nothing of the first one is new.
            for _ in 0..<2 { await rig.switchboard.setApplications([other, first]) }
            let callID = try #require(rig.media.lastCall)
            _ = try await perform(rig, .gather(try GatherRequest(maximum: 2)), call.id)
            rig.mediaEvents.post(.keyPressed(.four, milliseconds: 80, .caller), for: callID)
            _ = try await look(rig, call.id) { $0.gathering?.keys == [.four] }
            await rig.switchboard.setApplications([other])
            await rig.wait { rig.observer.counts.ended.count == 1 }
        }
    }

}
