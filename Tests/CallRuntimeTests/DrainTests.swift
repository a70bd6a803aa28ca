import CallControl
import CallRuntime
import CallSupport
import Primitives
import Registration
import SPiDR
import TestSupport
import Testing

/// The end of the gateway.
struct DrainTests {
    private let alice = RuntimeRig.alice
    private let bob = RuntimeRig.bob

    @Test func `draining tells everybody, and returns when it is done`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            let grant = try await rig.register(bob, on: 2)
            _ = try await rig.call()
            try await rig.switchboard.answer(bob, rig.incoming(on: 2), CallAnswerRequest(sdp: "answer"))
            _ = try await rig.call()
            await rig.switchboard.drain()
            #expect(rig.recorder.trace(1) == ["ringing", "respondCallUpdate", "ringing", "callEnd", "callEnd"])
            #expect(rig.recorder.trace(2) == ["call", "callCancel", "call", "callEnd", "callEnd"])
            #expect(rig.recorder.frames(2).last?.notification.statusCode == 503)
            #expect(rig.observer.counts.ended.map(\.cause) == [.drained, .drained])

            await #expect(throws: CallError.draining) { try await rig.call() }
            await #expect(throws: RegistrationError.draining) {
                try await rig.switchboard.subscribe(alice, SubscriptionRequest(services: ["call"]))
            }
            #expect(await rig.switchboard.channelExists(bob, grant.channel), "subscriptions stay as they are")
        }
    }

    @Test func `draining waits for an answer that notifications wait for`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            let ticket = await rig.switchboard.requestStarted(bob, about: nil)
            _ = try await rig.call()
            async let drained: Void = {
                await rig.switchboard.drain()
                rig.recorder.record(.note("drained"))
            }()
            await rig.expect(["ringing", "callEnd"], on: 1)
            await rig.settle()
            #expect(rig.recorder.trace(2) == [])
            await rig.switchboard.requestAnswered(ticket)
            await drained
            #expect(rig.recorder.trace(2) == ["call", "callEnd", "drained"])
        }
    }

    @Test func `draining patiently lets calls end by themselves, takes no new ones, and sends away who has none`()
        async throws
    {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            let session = try await rig.call()
            try await rig.switchboard.answer(bob, rig.incoming(on: 2), CallAnswerRequest(sdp: "answer"))
            // A second device of the callee, and somebody who has no call.
            let idle = try #require(UserAddress(parsing: "carol@example.com"))
            try await rig.register(idle, on: 3)
            async let drained: Void = {
                rig.switchboard.refuseNewWork()
                await rig.switchboard.lastCallEnded()
                rig.recorder.record(.note("drained"))
            }()
            await rig.expect(["close 1001"], on: 3)
            await #expect(throws: CallError.draining) { try await rig.call() }
            await #expect(throws: RegistrationError.draining) {
                try await rig.switchboard.subscribe(alice, SubscriptionRequest(services: ["call"]))
            }
            try await rig.switchboard.audit(alice, session)
            await rig.settle()
            #expect(!rig.recorder.trace().contains("drained"))
            #expect(rig.recorder.trace(1) == ["ringing", "respondCallUpdate"])
            try await rig.switchboard.end(alice, session, from: nil, reasonText: nil)
            await drained
            await rig.wait {
                rig.recorder.trace(1).contains("close 1001") && rig.recorder.trace(2).contains("close 1001")
            }
            // The call is over before the sockets are; nobody is told that the gateway ended it.
            #expect(rig.recorder.trace(2).filter { $0 != "drained" }.suffix(2) == ["callEnd", "close 1001"])
            #expect(rig.observer.counts.ended.count == 1)
            #expect(rig.observer.counts.ended.first?.cause != .drained)
            // Sent away once.
            await rig.settle()
            #expect(rig.recorder.trace(3).filter { $0 != "drained" } == ["close 1001"])
        }
    }

    @Test func `draining an idle switchboard returns at once`() async throws {
        try await RuntimeRig().serve { rig in
            await rig.switchboard.drain()
            await rig.switchboard.drain()
        }
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func `a call that starts meanwhile is refused or ended`(_ seed: UInt64) async throws {
        try await RuntimeRig(seed: seed).serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            async let drained: Void = rig.switchboard.drain()
            let outcomes = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        do throws(CallError) {
                            _ = try await rig.call()
                            return true
                        } catch {
                            #expect(error == .draining)
                            return false
                        }
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            await drained
            #expect(rig.observer.counts.ended.count == outcomes)
            #expect(rig.recorder.trace(2).count { $0 == "callEnd" } == outcomes)
        }
    }

    /// The end may come between any two steps, also between the making of a guest's owner and its subscription.
    @Test(arguments: 0...12) func `a guest that comes meanwhile is refused or let in`(_ steps: Int) async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            let executor = SteppedExecutor()
            let admission = executor.start {
                _ = try await rig.switchboard.admit(SubscriptionRequest(services: ["callMe"]), toCall: alice, from: nil)
            }
            for _ in 0..<steps { _ = await executor.step() }
            let draining = Task { await rig.switchboard.drain() }
            // Where the guest is in the way of the end it goes on.
            await rig.settle()
            while !executor.isFinished { _ = await executor.step() }
            await draining.value
            if case .failure(let error) = await admission.result { #expect(error as? RegistrationError == .draining) }
        }
    }
}
