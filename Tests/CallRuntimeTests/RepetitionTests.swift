import CallControl
import CallRuntime
import CallSupport
import Primitives
import TestSupport
import Testing

/// Requests that begin calls, and come twice.
struct RepetitionTests {
    private let alice = RuntimeRig.alice
    private let bob = RuntimeRig.bob
    private let offer = "v=0\r\na=ice-pwd:password+password+password\r\n"

    @Test func `a start that comes again is answered with the call it has begun`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            let session = try await rig.call(sdp: offer)
            #expect(try await rig.call(sdp: offer) == session)
            try await rig.switchboard.answer(bob, rig.incoming(on: 2), CallAnswerRequest(sdp: "answer"))
            #expect(try await rig.call(sdp: offer) == session)
            await rig.expect(["ringing", "respondCallUpdate"], on: 1)
            await rig.expect(["call", "callCancel"], on: 2)
            #expect(try await rig.call(sdp: offer.replacing("password", with: "differed")) != session)
        }
    }

    @Test func `starts that come at once begin one call`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            let sessions = try await withThrowingTaskGroup(of: SessionID.self) { group in
                for _ in 0..<8 { group.addTask { try await rig.call(sdp: offer) } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(sessions.count == 1)
            await rig.expect(["call"], on: 2)
        }
    }

    @Test func `once the call is over the same start begins another one`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            let session = try await rig.call(sdp: offer)
            try await rig.switchboard.end(alice, session, reasonText: nil)
            await rig.expect(["ringing", "callEnd"], on: 1)
            #expect(try await rig.call(sdp: offer) != session)
        }
    }

    @Test func `a start without an offer that comes again is the same call until somebody answers`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            let session = try await rig.call(sdp: "")
            #expect(try await rig.call(sdp: "") == session)
            await rig.expect(["call"], on: 2)
            try await rig.switchboard.answer(bob, rig.incoming(on: 2), CallAnswerRequest(sdp: offer))
            let another = try await rig.call(sdp: "")
            #expect(another != session)
            #expect(try await rig.call(sdp: "") == another, "the call that rings now, not the one that is answered")
            await rig.expect(["call", "callCancel", "call"], on: 2)
        }
    }

    @Test func `starts without an offer that differ in anything are different calls`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            let said = CustomContent(parameters: [CustomParameter(name: "X-GPS", value: "1,2")])
            let requests = [
                CallStartRequest(callee: bob, sdp: ""), CallStartRequest(callee: bob, sdp: "", content: said),
                CallStartRequest(callerName: "Joe", callee: bob, sdp: ""), CallStartRequest(callee: alice, sdp: ""),
            ]
            var sessions: Set<SessionID> = []
            for request in requests { sessions.insert(try await rig.switchboard.startCall(alice, request)) }
            #expect(sessions.count == requests.count)
        }
    }

    // MARK: A transfer that comes again while the first is worked on

    enum Transfer: String, CaseIterable, Sendable {
        case blind
        /// To a call that the new one takes the place of.
        case replacing
    }

    /// The second comes after so many steps of the first, and is done before the first goes on.
    @Test(arguments: Transfer.allCases)
    func `whenever a transfer comes again, both are accepted and the target is asked once`(_ kind: Transfer)
        async throws
    {
        var steps = 0
        while try await interleave(kind, after: steps) { steps += 1 }
        print("\(kind.rawValue) transfer: the second request after each of \(steps) steps of the first")
        #expect(steps > 5, "there are places between which another request can come")
    }

    /// - Returns: whether the first was not done yet when the second came.
    private func interleave(_ kind: Transfer, after steps: Int) async throws -> Bool {
        var wasUnderWay = false
        try await RuntimeRig(.init()).serve { rig in
            let carol = RuntimeRig.carol
            for (socket, user) in [alice, bob, carol].enumerated() {
                try await rig.register(user, on: UInt64(socket + 1))
            }
            let toBob = try await answeredCall(rig, bob, on: 2)
            let toCarol = kind == .replacing ? try await answeredCall(rig, carol, on: 3) : nil
            let before = rig.recorder.trace(3).count

            let executors = [SteppedExecutor(), SteppedExecutor()]
            let start = { (executor: SteppedExecutor) in
                executor.start { try await rig.switchboard.transfer(alice, toBob, to: carol, consultation: toCarol) }
            }
            let first = start(executors[0])
            for _ in 0..<steps { _ = await executors[0].step() }
            wasUnderWay = !executors[0].isFinished
            let second = start(executors[1])
            while !executors[1].isFinished {
                // Where the first is in the way of the second it goes on.
                if await !executors[1].step() { _ = await executors[0].step() }
            }
            while !executors[0].isFinished { _ = await executors[0].step() }
            await #expect(throws: Never.self, "the first, after \(steps) steps") { try await first.value }
            await #expect(throws: Never.self, "the second, after \(steps) steps") { try await second.value }

            await rig.wait { rig.recorder.trace(3).count > before }
            await rig.settle()
            #expect(rig.recorder.trace(3).dropFirst(before) == [kind == .blind ? "call" : "startCallReplace"])
            #expect(!rig.recorder.trace(1).contains("sessionFail"))
        }
        return wasUnderWay
    }

    /// The call ends while the second request waits for what the first one comes to.
    @Test(arguments: Transfer.allCases)
    func `no transfer waits for ever for one whose call has ended`(_ kind: Transfer) async throws {
        var (steps, isUnderWay) = (0, true)
        while isUnderWay {
            try await RuntimeRig(.init()).serve { rig in
                let carol = RuntimeRig.carol
                for (socket, user) in [alice, bob, carol].enumerated() {
                    try await rig.register(user, on: UInt64(socket + 1))
                }
                let toBob = try await answeredCall(rig, bob, on: 2)
                let toCarol = kind == .replacing ? try await answeredCall(rig, carol, on: 3) : nil
                let bobs = try await rig.incoming(on: 2)
                let executors = [SteppedExecutor(), SteppedExecutor(), SteppedExecutor()]
                var requests = executors.prefix(2).map { executor in
                    executor.start {
                        try await rig.switchboard.transfer(alice, toBob, to: carol, consultation: toCarol)
                    }
                }
                for _ in 0..<steps { _ = await executors[0].step() }
                isUnderWay = !executors[0].isFinished
                while await executors[1].step() {}
                requests.append(
                    executors[2].start { try await rig.switchboard.end(bob, bobs, reasonText: nil) })
                while await executors[2].step() {}
                for _ in 0..<200 where !executors.allSatisfy(\.isFinished) {
                    for executor in executors { _ = await executor.step() }
                }
                let areFinished = executors.allSatisfy(\.isFinished)
                #expect(areFinished, "after \(steps) steps of the first")
                for (request, executor) in zip(requests, executors) where executor.isFinished {
                    _ = await request.result
                }
            }
            steps += 1
        }
        #expect(steps > 5)
    }

    private func answeredCall(_ rig: RuntimeRig, _ callee: UserAddress, on socket: UInt64) async throws -> SessionID {
        let offer = try Fixtures.text("sdp/chromium-156/offer-audio-video.sdp")
        let request = CallStartRequest(callee: callee, sdp: offer, handlesReplacement: true)
        let session = try await rig.switchboard.startCall(alice, request)
        let answer = try Fixtures.text("sdp/chromium-156/answer-to-chromium-offer.sdp")
        try await rig.switchboard.answer(
            callee, rig.incoming(on: socket), CallAnswerRequest(sdp: answer, handlesReplacement: true))
        await rig.wait { rig.recorder.trace(socket).contains("callCancel") }
        return session
    }
}
