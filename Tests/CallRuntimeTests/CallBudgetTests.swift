import CallControl
import CallRuntime
import CallSupport
import Primitives
import Registration
import SPiDR
import SDP
import TestSupport
import Testing

/// What one user may take of the gateway, and of another user's patience.
@Suite struct `Budgets of calls` {
    private let alice = RuntimeRig.alice
    private let bob = RuntimeRig.bob
    private let carol = RuntimeRig.carol
    private let dave = UserAddress(parsing: "dave@example.com")!

    private func configuration(
        legs: Int = 20, ringing: Int = 10, burst: Int = 10_000, media: LocalSwitchboard.Configuration.Media = .direct
    ) -> LocalSwitchboard.Configuration {
        var configuration = LocalSwitchboard.Configuration(media: media)
        configuration.registration.maximumLegs = legs
        configuration.registration.maximumRinging = ringing
        configuration.registration.callRate = .init(burst: burst, interval: .seconds(1))
        return configuration
    }

    private func register(_ rig: RuntimeRig) async throws {
        for (socket, user) in [alice, bob, carol, dave].enumerated() {
            try await rig.register(user, on: UInt64(socket + 1))
        }
    }

    private func count(_ type: Notification.EventType, on socket: UInt64, _ rig: RuntimeRig) -> Int {
        rig.recorder.frames(socket).count { $0.notification.type == type }
    }

    @Test func `4,000 calls by one user ring five times, and others reach whom they call`() async throws {
        try await RuntimeRig(configuration()).serve { rig in
            try await register(rig)
            var refusals = 0
            for number in 1...4_000 {
                do throws(CallError) {
                    _ = try await rig.call(bob, from: alice, sdp: "offer \(number)")
                } catch {
                    // Those that have found Bob busy are still on their way out.
                    #expect(error == .limitOfLegs)
                    refusals += 1
                }
            }
            await rig.settle()
            rig.clock.advance(by: .milliseconds(250))
            await rig.wait { rig.observer.counts.ended.count + refusals == 3_995 }
            #expect(count(.call, on: 2, rig) == 5)
            #expect(rig.observer.counts.ended.allSatisfy { $0.cause == .unreachable(.busy) })
            #expect(rig.observer.counts.refused.count { $0 == .userCalls } == refusals)
            #expect(rig.observer.counts.refused.count { $0 == .calleeRinging } == 3_995 - refusals)
            await rig.wait { count(.callEnd, on: 1, rig) == 3_995 - refusals }
            #expect(rig.recorder.frames(1).last?.notification.statusCode == 486)

            for (number, callee) in [bob, dave].enumerated() {
                _ = try await rig.call(callee, from: carol, sdp: "carol \(number)")
            }
            await rig.wait { count(.call, on: 2, rig) == 6 && count(.call, on: 4, rig) == 1 }
            // One that is answered makes room.
            try await rig.switchboard.answer(bob, rig.incoming(on: 2), CallAnswerRequest(sdp: "answer"))
            let first = try #require(
                rig.recorder.frames(2).first { $0.notification.type == .call }?.notification.session)
            try await rig.switchboard.reject(bob, first, replacement: false)
            await rig.settle()
            _ = try await rig.call(bob, from: alice, sdp: "once more")
            await rig.wait { count(.call, on: 2, rig) == 7 }
        }
    }

    @Test func `a user with as many calls as allowed starts no more, and is busy to others`() async throws {
        try await RuntimeRig(configuration(legs: 2)).serve { rig in
            try await register(rig)
            let own = [try await rig.call(bob, from: alice), try await rig.call(carol, from: alice)]
            await #expect(throws: CallError.limitOfLegs) { try await rig.call(dave, from: alice) }
            #expect(rig.observer.counts.refused == [.userCalls])
            _ = try await rig.call(alice, from: dave)
            await rig.settle()
            rig.clock.advance(by: .milliseconds(250))
            await rig.wait { count(.callEnd, on: 4, rig) == 1 }
            #expect(rig.recorder.frames(4).last?.notification.statusCode == 486)
            #expect(rig.observer.counts.refused == [.userCalls, .calleeCalls])
            #expect(count(.call, on: 1, rig) == 0)
            await #expect(throws: CallError.limitOfLegs) {
                try await rig.switchboard.join(alice, own[0], own[1], CallUpdateRequest(sdp: "offer"))
            }
            try await rig.switchboard.end(alice, own[0], reasonText: nil)
            await rig.settle()
            _ = try await rig.call(dave, from: alice)
            await rig.wait { count(.call, on: 4, rig) == 1 }
        }
    }

    @Test func `who has started too many calls waits, and neither leaving nor asking again changes that`() async throws
    {
        try await RuntimeRig(configuration(burst: 3)).serve { rig in
            try await register(rig)
            let offer = "a=ice-pwd:abc"
            let session = try await rig.call(bob, from: alice, sdp: offer)
            for _ in 0..<10 {
                #expect(try await rig.call(bob, from: alice, sdp: offer) == session, "the same call, asked for again")
            }
            for _ in 0..<2 { _ = try await rig.call(carol, from: alice) }
            await #expect(throws: CallError.tooManyCalls(retryAfter: .seconds(1))) {
                try await rig.call(carol, from: alice)
            }
            #expect(rig.observer.counts.refused == [.userRate])
            let grant = try await rig.switchboard.subscribe(
                alice, SubscriptionRequest(services: ["call"], forceLogOut: true))
            await #expect(throws: CallError.tooManyCalls(retryAfter: .seconds(1))) {
                try await rig.call(carol, from: alice)
            }
            try await rig.switchboard.unsubscribe(alice, grant.subscription)
            await rig.settle()
            try await rig.register(alice, on: 9)
            await #expect(throws: CallError.tooManyCalls(retryAfter: .seconds(1))) {
                try await rig.call(carol, from: alice)
            }
            _ = try await rig.call(alice, from: dave)
            await rig.settle()
            rig.clock.advance(by: .seconds(1))
            _ = try await rig.call(carol, from: alice)
        }
    }

    @Test func `calls that are sent on count for who sends them, and ring no more than others`() async throws {
        try await RuntimeRig(configuration(ringing: 2, burst: 3)).serve { rig in
            try await register(rig)
            // Carol's phone rings already, on behalf of Bob.
            _ = try await rig.call(carol, from: bob)
            _ = try await rig.call(bob, from: alice)
            let session = try await rig.incoming(on: 2)
            await #expect(throws: CallError.unreachable(.busy)) {
                try await rig.switchboard.forward(bob, session, to: carol)
            }
            #expect(rig.observer.counts.refused == [.calleeRinging])
            try await rig.switchboard.forward(bob, session, to: dave)
            await rig.wait { count(.call, on: 4, rig) == 1 }
            #expect(count(.call, on: 3, rig) == 1)
            await #expect(throws: CallError.tooManyCalls(retryAfter: .seconds(1))) {
                try await rig.call(dave, from: bob)
            }
        }
    }

    @Test func `a transfer to somebody at whom enough rings fails like one to a busy line`() async throws {
        let offer = try Fixtures.text("sdp/chromium-156/offer-audio-video.sdp")
        let answer = try Fixtures.text("sdp/chromium-156/answer-to-chromium-offer.sdp")
        try await RuntimeRig(configuration(ringing: 1, burst: 2, media: .anchored)).serve { rig in
            try await register(rig)
            _ = try await rig.call(bob, from: alice, sdp: offer)
            let session = try await rig.incoming(on: 2)
            try await rig.switchboard.answer(bob, session, CallAnswerRequest(sdp: answer))
            _ = try await rig.call(carol, from: dave, sdp: offer)
            try await rig.switchboard.transfer(bob, session, to: carol, consultation: nil)
            await rig.wait { count(.sessionFail, on: 2, rig) == 1 }
            #expect(rig.recorder.frames(2).last?.notification.statusCode == 486)
            #expect(count(.call, on: 3, rig) == 1)
            try await rig.switchboard.transfer(bob, session, to: carol, consultation: nil)
            await rig.wait { count(.sessionFail, on: 2, rig) == 2 }
            await #expect(throws: CallError.tooManyCalls(retryAfter: .seconds(1))) {
                try await rig.switchboard.transfer(bob, session, to: carol, consultation: nil)
            }
            #expect(try await rig.switchboard.callSession(bob, session).state == .inCall)
        }
    }

    @Test func `what the gateway refuses for itself is counted as well`() async throws {
        var configuration = configuration()
        configuration.maximumCalls = 1
        try await RuntimeRig(configuration).serve { rig in
            try await register(rig)
            _ = try await rig.call(bob, from: alice)
            await #expect(throws: CallError.limitOfCalls) { try await rig.call(dave, from: carol) }
            #expect(rig.observer.counts.refused == [.gatewayCalls])
        }
    }
}
