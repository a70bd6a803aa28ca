import CallControl
import CallRuntime
import CallSupport
import Primitives
import Registration
import SDP
import SPiDR
import TestSupport
import Testing

/// Calls that the gateway places for its users (click-to-call, spidr-wire §10): Alice asks for one to Bob.
struct ClickToCallTests {
    private let alice = RuntimeRig.alice
    private let bob = RuntimeRig.bob

    private func makeRig(_ change: (inout LocalSwitchboard.Configuration) -> Void = { _ in }) -> RuntimeRig {
        var configuration = LocalSwitchboard.Configuration(media: .anchored)
        configuration.call.mediaPolicy = .engine
        change(&configuration)
        return RuntimeRig(configuration)
    }

    /// An answer with audio.
    private static func description(_ ufrag: String, version: Int = 1) -> String {
        let fingerprint = Array(repeating: "AB", count: 32).joined(separator: ":")
        return [
            "v=0", "o=- 1 \(version) IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0",
            "m=audio 9 UDP/TLS/RTP/SAVPF 111", "c=IN IP4 0.0.0.0", "a=mid:0", "a=sendrecv", "a=rtpmap:111 opus/48000/2",
            "a=rtcp-mux", "a=ice-ufrag:\(ufrag)", "a=ice-pwd:password+password+password", "a=setup:active",
            "a=fingerprint:sha-256 \(fingerprint)", "",
        ].joined(separator: "\r\n")
    }

    private func click(_ rig: RuntimeRig, to target: UserAddress) async throws(CallError) -> SessionID {
        try await rig.switchboard.perform(.connect(to: target), by: alice, from: nil)
    }

    private func answer(_ rig: RuntimeRig, _ user: UserAddress, on socket: UInt64) async throws -> SessionID {
        let session = try await rig.incoming(on: socket)
        let description = Self.description("user\(socket)")
        try await rig.switchboard.answer(user, session, CallAnswerRequest(sdp: description))
        return session
    }

    private func ending(_ rig: RuntimeRig, on socket: UInt64) async -> String {
        await rig.wait { rig.recorder.trace(socket).contains("callEnd") }
        let last = rig.recorder.frames(socket).last { $0.notification.type == .callEnd }?.notification
        return "\(last?.statusCode.map { "\($0)" } ?? "-") \(last?.reasonText ?? "-")"
    }

    @Test func `the user is called, then the target, and both talk`() async throws {
        try await makeRig().serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            let placed = try await click(rig, to: bob)
            #expect(try await rig.incoming(on: 1) == placed)
            #expect(rig.recorder.trace(2).isEmpty, "nobody calls the target yet")
            let shown = rig.recorder.frames(1).last?.notification.parties
            #expect(shown?.callerDisplayNumber == bob.text)
            let own = try await answer(rig, alice, on: 1)
            let others = try await answer(rig, bob, on: 2)
            #expect(rig.recorder.frames(2).first?.notification.parties?.callerName == "Alice")
            await rig.expect(["call", "callCancel", "startCallUpdate"], on: 1)
            let answered = Self.description("user1", version: 2)
            try await rig.switchboard.respond(alice, own, CallUpdateRequest(sdp: answered))
            // The connector leaves; its part is over before that of its client could be waited for.
            await rig.wait { rig.observer.counts.requests.contains("end done") }
            let view = try await rig.switchboard.callSession(alice, own)
            #expect(view.members.map(\.address) == [alice.text, bob.text])
            try await rig.switchboard.end(bob, others, reasonText: nil)
            #expect(await ending(rig, on: 1) == "- -")
            await rig.wait { rig.observer.counts.ended.count == 1 }
            #expect(rig.observer.counts.requests.first == "connect done")
            #expect(rig.observer.counts.requests.contains("transfer done"))
            let records = try await rig.switchboard.callRecords(.connector, from: 0, count: 9)
            #expect(records.isEmpty)
            #expect(try await rig.switchboard.callRecords(alice, from: 0, count: 9).map(\.direction) == [.incoming])
        }
    }

    @Test func `a target that rejects ends the call with its code`() async throws {
        try await makeRig().serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            _ = try await click(rig, to: bob)
            _ = try await answer(rig, alice, on: 1)
            try await rig.switchboard.reject(bob, try await rig.incoming(on: 2), replacement: false)
            #expect(await ending(rig, on: 1) == "603 Declined")
            await rig.wait { rig.observer.counts.ended.count == 1 }
        }
    }

    @Test func `a target that is gone when the user answers ends the call`() async throws {
        try await makeRig().serve { rig in
            try await rig.register(alice, on: 1)
            let grant = try await rig.register(bob, on: 2)
            _ = try await click(rig, to: bob)
            let session = try await rig.incoming(on: 1)
            try await rig.switchboard.unsubscribe(bob, grant.subscription)
            try await rig.switchboard.answer(alice, session, CallAnswerRequest(sdp: Self.description("alice")))
            #expect(await ending(rig, on: 1) == "480 Not registered")
            await rig.wait { rig.observer.counts.ended.count == 1 }
        }
    }

    @Test func `a target that cannot be rung is refused at once, and nobody is called`() async throws {
        try await makeRig().serve { rig in
            try await rig.register(alice, on: 1)
            let nobody = try #require(UserAddress(parsing: "nobody@example.com"))
            for (target, reason) in [(bob, .notRegistered), (nobody, .noSuchUser), (.connector, .noSuchUser)]
                as [(UserAddress, CallEndCause.Unreachable)]
            {
                await #expect(throws: CallError.unreachable(reason)) { try await click(rig, to: target) }
            }
            #expect(rig.recorder.trace(1).isEmpty)
            #expect(await rig.switchboard.callSessions(alice).isEmpty)
        }
    }

    @Test func `a busy target is refused where busy users are not rung; the user may be busy`() async throws {
        try await makeRig { $0.busy = .reject }.serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            try await rig.register(RuntimeRig.carol, on: 3)
            _ = try await click(rig, to: bob)
            _ = try await answer(rig, alice, on: 1)
            _ = try await rig.incoming(on: 2)
            await #expect(throws: CallError.unreachable(.busy)) { try await click(rig, to: bob) }
            _ = try await click(rig, to: RuntimeRig.carol)
            await rig.wait { rig.recorder.trace(1).count { $0 == "call" } == 2 }
            await rig.switchboard.drain()
        }
    }

    @Test func `a user without a device is refused`() async throws {
        try await makeRig().serve { rig in
            try await rig.register(bob, on: 2)
            await #expect(throws: CallError.notAllowed(.start, .noSubscription)) { try await click(rig, to: bob) }
            #expect(rig.recorder.trace(2).isEmpty)
        }
    }

    @Test func `it counts as a call that the user starts`() async throws {
        try await makeRig { $0.registration.callRate.burst = 1 }.serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            _ = try await click(rig, to: bob)
            let error = await #expect(throws: CallError.self) { try await click(rig, to: bob) }
            guard case .tooManyCalls = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            try await rig.switchboard.reject(alice, try await rig.incoming(on: 1), replacement: false)
            await rig.wait { rig.observer.counts.ended.count == 1 }
            #expect(rig.recorder.trace(2).isEmpty)
            #expect(await rig.switchboard.callSessions(alice).isEmpty, "what was refused has left nothing")
        }
    }

    @Test func `guests may not ask for one`() async throws {
        try await makeRig().serve { rig in
            try await rig.register(bob, on: 2)
            let grant = try await rig.switchboard.admit(
                SubscriptionRequest(services: ["callMe"]), toCall: bob, from: nil)
            let guest = UserAddress(try #require(GuestID(owning: grant.subscription.rawValue)))
            await #expect(throws: CallError.notForGuests(.bringingOthers)) {
                try await rig.switchboard.perform(.connect(to: bob), by: guest, from: nil)
            }
        }
    }

    @Test func `where media goes from peer to peer there is none`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            await #expect(throws: CallError.unsupported(.connectionOfDirectMedia)) { try await click(rig, to: bob) }
            #expect(await rig.switchboard.callSessions(alice).isEmpty)
        }
    }

    @Test func `nobody calls the application that places calls`() async throws {
        try await makeRig().serve { rig in
            try await rig.register(alice, on: 1)
            _ = try await rig.call(.connector, sdp: try Fixtures.text("sdp/chromium-156/offer-audio.sdp"))
            await rig.wait { rig.clock.sleeperCount > 0 }
            rig.clock.advance(by: .seconds(1))
            #expect(await ending(rig, on: 1) == "404 User not found")
            await rig.wait { rig.observer.counts.ended.count == 1 }
        }
    }

    @Test func `a gateway that stops ends it for both`() async throws {
        try await makeRig().serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            _ = try await click(rig, to: bob)
            _ = try await answer(rig, alice, on: 1)
            _ = try await rig.incoming(on: 2)
            await rig.switchboard.drain()
            #expect(await ending(rig, on: 1).hasPrefix("503"))
            #expect(await ending(rig, on: 2).hasPrefix("503"))
            await #expect(throws: CallError.draining) { try await click(rig, to: bob) }
        }
    }
}
