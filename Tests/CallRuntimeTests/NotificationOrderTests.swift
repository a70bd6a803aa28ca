import CallControl
import CallRuntime
import CallSupport
import Primitives
import Registration
import SPiDR
import TestSupport
import Testing

/// Answers before notifications, and nothing lost on the way (spidr-wire §4.3, §4.4).
struct NotificationOrderTests {
    private let alice = RuntimeRig.alice
    private let bob = RuntimeRig.bob

    @Test func `what a request causes is notified after its answer`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            let start = await rig.switchboard.requestStarted(alice, about: nil)
            _ = try await rig.call()
            let b = try await rig.incoming(on: 2)
            await rig.settle()
            rig.recorder.record(.note("answered start"))
            await rig.switchboard.requestAnswered(start)
            await rig.expect(["answered start", "ringing"], on: 1)

            let answer = await rig.switchboard.requestStarted(bob, about: nil)
            try await rig.switchboard.answer(bob, b, CallAnswerRequest(sdp: "answer"))
            await rig.expect(["answered start", "ringing", "respondCallUpdate"], on: 1)
            await rig.settle()
            rig.recorder.record(.note("answered answer"))
            await rig.switchboard.requestAnswered(answer)
            await rig.expect(["call", "answered start", "answered answer", "callCancel"], on: 2)
        }
    }

    @Test func `a request that hangs does not hold back for ever`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            let ticket = await rig.switchboard.requestStarted(alice, about: nil)
            _ = try await rig.call()
            await rig.expect(["call"], on: 2)
            await rig.settle()
            #expect(rig.recorder.trace(1) == [])
            rig.clock.advance(by: .seconds(10))
            await rig.expect(["ringing"], on: 1)
            await rig.switchboard.requestAnswered(ticket)
        }
    }

    @Test func `what was missed comes on the next socket under its number`() async throws {
        try await RuntimeRig(confirms: false).serve { rig in
            try await rig.register(alice, on: 1)
            let bobs = try await rig.register(bob, on: 2)
            let a = try await rig.call()
            await rig.expect(["call"], on: 2)
            await rig.switchboard.channelClosed(bob, bobs.channel, on: SocketID(2))
            try await rig.switchboard.end(alice, a, reasonText: nil)
            await rig.expect(["ringing", "callEnd"], on: 1)
            await rig.settle()
            #expect(await rig.switchboard.channelOpened(bob, bobs.channel, on: SocketID(3), since: nil))
            await rig.expect(["call", "callEnd"], on: 3)
            #expect(rig.recorder.frames(3).first == rig.recorder.frames(2).first)
            #expect(rig.observer.counts.replayed == 1)
        }
    }

    @Test func `a second socket overrides the first`() async throws {
        try await RuntimeRig().serve { rig in
            let grant = try await rig.register(alice, on: 1)
            #expect(await rig.switchboard.channelOpened(alice, grant.channel, on: SocketID(2), since: nil))
            await rig.expect(["websocketOverridden", "close 1008"], on: 1)
            #expect(
                await !rig.switchboard.channelOpened(bob, grant.channel, on: SocketID(3), since: nil),
                "a channel belongs to its user")
            #expect(await !rig.switchboard.channelExists(bob, grant.channel))
            #expect(await !rig.switchboard.channelOpened(alice, ChannelID("x"), on: SocketID(3), since: nil))
        }
    }

    @Test func `an expired subscription is gone`() async throws {
        try await RuntimeRig().serve { rig in
            let grant = try await rig.register(alice, on: 1, expires: .seconds(60))
            await rig.settle()
            rig.clock.advance(by: .seconds(65))
            await rig.expect(["gone", "close 1000"], on: 1)
            await #expect(throws: RegistrationError.noSuchSubscription) {
                try await rig.switchboard.extend(alice, grant.subscription, SubscriptionRequest(services: ["call"]))
            }
            #expect(rig.observer.counts.subscriptions == 0)
        }
    }

    @Test func `an extended subscription outlives its first deadline`() async throws {
        try await RuntimeRig().serve { rig in
            let grant = try await rig.register(alice, on: 1, expires: .seconds(60))
            rig.clock.advance(by: .seconds(30))
            _ = try await rig.switchboard.extend(
                alice, grant.subscription, SubscriptionRequest(expires: .seconds(60), services: ["call"]))
            await rig.settle()
            rig.clock.advance(by: .seconds(60))
            await rig.settle()
            await rig.expect(["ping"], on: 1)
            rig.clock.advance(by: .seconds(5))
            await rig.expect(["ping", "gone", "close 1000"], on: 1)
        }
    }

    @Test func `a call ends with its party's last subscription`() async throws {
        try await RuntimeRig().serve { rig in
            let first = try await rig.register(alice, on: 1)
            let second = try await rig.register(alice, on: 3)
            try await rig.register(bob, on: 2)
            _ = try await rig.call()
            try await rig.switchboard.answer(bob, rig.incoming(on: 2), CallAnswerRequest(sdp: "answer"))
            try await rig.switchboard.unsubscribe(alice, first.subscription)
            await rig.settle()
            #expect(rig.recorder.trace(2) == ["call", "callCancel"])
            try await rig.switchboard.unsubscribe(alice, second.subscription)
            await rig.expect(["call", "callCancel", "callEnd"], on: 2)
            // The observer is told behind the devices.
            await rig.wait { !rig.observer.counts.ended.isEmpty }
            #expect(rig.observer.counts.ended.map(\.cause) == [.subscriptionEnded(.caller)])
        }
    }

    @Test func `who rings learns that the caller is gone, not that anybody is not registered`() async throws {
        try await RuntimeRig().serve { rig in
            let caller = try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            _ = try await rig.call()
            try await rig.switchboard.unsubscribe(alice, caller.subscription)
            await rig.expect(["call", "callEnd"], on: 2)
            let end = try #require(rig.recorder.frames(2).last?.notification)
            #expect(
                end.statusCode == 487 && end.reasonText == "Caller is gone" && end.cause == "subscription_ended"
                    && end.endedBy == .peer)
            let record = try #require(await rig.switchboard.callRecords(bob, from: 0, count: 1).first)
            #expect(record.ending == CallEnding(.ended(.callerLeft), by: .caller))
        }
    }

    @Test func `the device that answers is told so, and the others that another one has`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            let first = try await rig.register(bob, on: 2)
            try await rig.register(bob, on: 3)
            _ = try await rig.call()
            try await rig.switchboard.answer(
                bob, rig.incoming(on: 2), CallAnswerRequest(sdp: "answer"), from: first.subscription)
            for socket in [2, 3] as [UInt64] { await rig.expect(["call", "callCancel"], on: socket) }
            #expect(
                [2, 3].map { rig.recorder.frames($0).last?.notification.cause } == [
                    "answered_here", "answered_elsewhere",
                ])
        }
    }

    @Test func `a device that subscribes while it rings is called too, and the same device again stays in the call`()
        async throws
    {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1, correlator: "phone")
            try await rig.register(bob, on: 2)
            let a = try await rig.call()
            try await rig.register(bob, on: 3)
            await rig.expect(["call"], on: 3)
            try await rig.register(alice, on: 4, correlator: "phone")
            try await rig.switchboard.answer(bob, rig.incoming(on: 3), CallAnswerRequest(sdp: "answer"))
            await rig.expect(["ringing", "websocketOverridden", "close 1000"], on: 1)
            await rig.expect(["respondCallUpdate"], on: 4)
            await rig.expect(["call", "callCancel"], on: 3)
            try await rig.switchboard.end(alice, a, reasonText: nil)
        }
    }
}
