import CallControl
import CallRuntime
import CallSupport
import Primitives
import SDP
import SPiDR
import TestSupport
import Testing

/// The message sequences of spidr-wire §13 through the whole runtime.
struct CallFlowTests {
    private let alice = RuntimeRig.alice
    private let bob = RuntimeRig.bob

    @Test func `a call is made, answered and ended`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2, feedback: true)
            let a = try await rig.call()
            let b = try await rig.incoming(on: 2)
            #expect(try await rig.switchboard.callSession(alice, a).progress == .ringing)
            try await rig.switchboard.ringing(bob, b)
            try await rig.switchboard.audit(alice, a)
            try await rig.switchboard.answer(bob, b, CallAnswerRequest(sdp: "answer"))
            #expect(try await rig.switchboard.callSession(bob, b).progress == .answered)
            try await rig.switchboard.end(alice, a, reasonText: "bye")
            await rig.expect(["ringing", "respondCallUpdate"], on: 1)
            await rig.expect(["call", "callCancel", "callEnd"], on: 2)
            #expect(rig.recorder.frames(2).last?.notification.reasonText == "bye")
            #expect(rig.recorder.frames(1).last?.notification.sdp == "answer")
            for (user, session) in [(alice, a), (bob, b)] {
                await #expect(throws: CallError.noSuchCall) {
                    try await rig.switchboard.end(user, session, reasonText: nil)
                }
                await #expect(throws: CallError.noSuchCall) { try await rig.switchboard.callSession(user, session) }
            }
            #expect(rig.observer.counts.ended.map(\.cause) == [.completed(by: .caller, reasonText: "bye")])
        }
    }

    @Test
    func `a name given to an account is shown whatever its client says, else its client's word, else the address`()
        async throws
    {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            _ = try await rig.call()
            _ = try await rig.switchboard.startCall(
                alice, CallStartRequest(callerName: "Bank", callee: bob, sdp: "offer"))
            await rig.expect(["call", "call"], on: 2)
            await rig.expect(["ringing", "ringing"], on: 1)
            #expect(rig.recorder.frames(2).map(\.notification.parties?.callerName) == ["Alice", "Alice"])
            for name in [nil, "Bobby"] {
                _ = try await rig.switchboard.startCall(
                    bob, CallStartRequest(callerName: name, callee: alice, sdp: "offer"))
            }
            await rig.wait { rig.recorder.frames(1).count == 4 }
            #expect(
                rig.recorder.frames(1).suffix(2).map(\.notification.parties?.callerName) == [
                    "bob@example.com", "Bobby",
                ])
            #expect(
                rig.recorder.frames(1).prefix(2).map(\.notification.parties?.remoteName) == [
                    "bob@example.com", "bob@example.com",
                ])
        }
    }

    @Test func `the caller gives up`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            try await rig.register(bob, on: 3)
            let a = try await rig.call()
            try await rig.switchboard.end(alice, a, reasonText: nil)
            await rig.expect(["ringing", "callEnd"], on: 1)
            await rig.expect(["call", "callEnd"], on: 2)
            await rig.expect(["call", "callEnd"], on: 3)
        }
    }

    @Test func `one device declines for all`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            try await rig.register(bob, on: 3)
            _ = try await rig.call()
            try await rig.switchboard.reject(bob, rig.incoming(on: 2), replacement: false)
            await rig.expect(["ringing", "callEnd"], on: 1)
            #expect(rig.recorder.frames(1).last?.notification.statusCode == 603)
            await rig.expect(["call", "callCancel"], on: 2)
            await rig.expect(["call", "callCancel"], on: 3)
        }
    }

    @Test func `nobody answers`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            _ = try await rig.call()
            await rig.expect(["call"], on: 2)
            rig.clock.advance(by: .seconds(60))
            await rig.expect(["ringing", "callEnd"], on: 1)
            await rig.expect(["call", "callEnd"], on: 2)
            #expect(rig.recorder.frames(1).last?.notification.statusCode == 487)
        }
    }

    @Test(arguments: [("nobody@example.com", 404), ("bob@example.com", 480)])
    func `an unreachable callee is told after the call was accepted`(_ callee: String, _ statusCode: Int) async throws {
        try await RuntimeRig(.init(media: .anchored)).serve { rig in
            try await rig.register(alice, on: 1)
            let a = try await rig.call(UserAddress(parsing: callee)!)
            // Web clients ask for the call as soon as they know it, and take a refusal for its end.
            try await rig.switchboard.audit(alice, a)
            await rig.settle()
            #expect(rig.recorder.trace(1).isEmpty)
            rig.clock.advance(by: .milliseconds(250))
            await rig.expect(["callEnd"], on: 1)
            #expect(rig.recorder.frames(1).first?.notification.statusCode == statusCode)
            #expect(rig.recorder.frames(1).first?.notification.session == a)
            // What was told may still be on its way.
            try await rig.switchboard.audit(alice, a)
            rig.clock.advance(by: .milliseconds(100))
            await #expect(throws: CallError.noSuchCall) { try await rig.switchboard.audit(alice, a) }
            #expect(rig.recorder.mediaCommands.isEmpty)
        }
    }

    @Test func `somebody else's session is none`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            try await rig.register(RuntimeRig.carol, on: 3)
            let a = try await rig.call()
            for user in [bob, RuntimeRig.carol, UserAddress(parsing: "nobody@example.com")!] {
                await #expect(throws: CallError.noSuchCall) { try await rig.switchboard.audit(user, a) }
                await #expect(throws: CallError.noSuchCall) { try await rig.switchboard.end(user, a, reasonText: nil) }
            }
            try await rig.switchboard.audit(alice, a)
        }
    }

    @Test func `a caller without a subscription could not be told anything, and is refused`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(bob, on: 2)
            await #expect(
                throws: CallError.notAllowed(.start, .noSubscription)
            ) {
                try await rig.call()
            }
            #expect(rig.recorder.entries.isEmpty)
        }
    }

    @Test func `a user can call the own devices`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(alice, on: 2)
            let a = try await rig.call(alice)
            let b = try await rig.incoming(on: 2)
            #expect(a != b)
            try await rig.switchboard.answer(alice, b, CallAnswerRequest(sdp: "answer"))
            try await rig.switchboard.end(alice, a, reasonText: nil)
            // Which device hangs up is not known: both hear of the end of either session.
            let expected = ["call", "ringing", "respondCallUpdate", "callCancel", "callEnd", "callEnd"]
            for socket in [1, 2] as [UInt64] {
                await rig.expect(expected, on: socket)
                #expect(Set(rig.recorder.frames(socket).suffix(2).map(\.notification.session)) == [a, b])
            }
        }
    }

    @Test func `a storage that fails is no unknown user`() async throws {
        try await RuntimeRig(storageIsBroken: true).serve { rig in
            try await rig.register(alice, on: 1)
            await #expect(throws: CallError.storageUnavailable) { try await rig.call() }
            #expect(rig.recorder.entries.isEmpty)
        }
    }

    @Test func `the number of calls is limited, and a call that ended makes room`() async throws {
        try await RuntimeRig(.init(media: .direct, maximumCalls: 1)).serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            let a = try await rig.call()
            await #expect(throws: CallError.limitOfCalls) { try await rig.call() }
            try await rig.switchboard.end(alice, a, reasonText: nil)
            await rig.expect(["ringing", "callEnd"], on: 1)
            await rig.settle()
            _ = try await rig.call()
        }
    }
}

/// Calls whose media the gateway terminates.
struct AnchoredCallFlowTests {
    private let alice = RuntimeRig.alice
    private let bob = RuntimeRig.bob
    private let offer: String
    private let answer: String

    init() throws {
        offer = try Fixtures.text("sdp/chromium-156/offer-audio-video.sdp")
        answer = try Fixtures.text("sdp/chromium-156/answer-to-chromium-offer.sdp")
    }

    private func connected(_ rig: RuntimeRig) async throws -> SessionID {
        try await rig.register(alice, on: 1)
        try await rig.register(bob, on: 2)
        let a = try await rig.call(sdp: offer)
        try await rig.switchboard.answer(bob, rig.incoming(on: 2), CallAnswerRequest(sdp: answer))
        await rig.expect(["ringing", "respondCallUpdate"], on: 1)
        return a
    }

    @Test func `the media plane is told in order, and before the peers are`() async throws {
        try await RuntimeRig(.init(media: .anchored)).serve { rig in
            let a = try await connected(rig)
            try await rig.switchboard.end(alice, a, reasonText: nil)
            let kinds = rig.recorder.mediaCommands.map { command in
                switch command {
                case .prepare(let leg, let credentials):
                    #expect(credentials.ufrag.count == 8)
                    #expect(credentials.password.value.count == 24)
                    return "prepare \(leg)"
                case .prepareHeadless(let leg, _): return "prepare headless \(leg)"
                case .connect(let leg, _): return "connect \(leg)"
                case .play, .stopPlaying, .sendDigits, .say: return "media"
                case .route(let leg, let route): return "route \(leg) to \(route)"
                case .adopt, .releaseLeg: return "move"
                case .release: return "release"
                }
            }
            #expect(
                kinds == [
                    "prepare callee", "prepare caller", "route caller to leg(callee)", "route callee to leg(caller)",
                    "connect caller",
                    "connect callee", "release",
                ])
            let entries = rig.recorder.entries
            let call = try #require(
                entries.firstIndex {
                    if case .frame(let frame, _) = $0 { frame.notification.type == .call } else { false }
                })
            let prepared = try #require(
                entries.firstIndex { if case .media(.prepare(.callee, _), _) = $0 { true } else { false } })
            #expect(prepared < call)
            let session = try SessionDescription(parsing: #require(rig.recorder.frames(2).first?.notification.sdp))
            #expect(
                try PeerDescription(reading: session, as: .offer).media[0].canonicalName
                    == rig.media.lastCall?.canonicalName)
        }
    }

    @Test func `a media failure ends the call for both, with its reason`() async throws {
        try await RuntimeRig(.init(media: .anchored)).serve { rig in
            _ = try await connected(rig)
            let call = try #require(rig.media.lastCall)
            rig.mediaEvents.post(.pathChecked(.caller), for: call)
            rig.mediaEvents.post(.pathSecured(.caller), for: call)
            rig.mediaEvents.post(.failed(.callee, .consentExpired), for: call)
            rig.mediaEvents.post(.failed(.caller, .handshakeFailed), for: call)
            await rig.expect(["ringing", "respondCallUpdate", "callEnd"], on: 1)
            await rig.expect(["call", "callCancel", "callEnd"], on: 2)
            for socket in [1, 2] as [UInt64] {
                #expect(rig.recorder.frames(socket).last?.notification.reasonText == "media path lost")
            }
            #expect(rig.recorder.mediaCommands.last == .release)
            #expect(rig.recorder.mediaCommands.count { $0 == .release } == 1)
        }
    }

    @Test func `media that never comes ends the call`() async throws {
        try await RuntimeRig(.init(media: .anchored)).serve { rig in
            _ = try await connected(rig)
            await rig.settle()
            rig.clock.advance(by: .seconds(60))
            await rig.expect(["ringing", "respondCallUpdate", "callEnd"], on: 1)
        }
    }

    @Test func `a full media plane refuses the call, and nobody hears of it`() async throws {
        try await RuntimeRig(.init(media: .anchored)).serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            rig.media.isFull = true
            await #expect(throws: CallError.limitOfCalls) { try await rig.call(sdp: offer) }
            rig.media.isFull = false
            await #expect(throws: CallError.self) { try await rig.call(sdp: "not sdp") }
            #expect(rig.recorder.entries.count == 1)
            #expect(rig.recorder.mediaCommands == [.release], "the reservation is given back")
            #expect(
                rig.observer.counts
                    == .init(refused: [.gatewayCalls], requests: ["start limit", "start unusable"], subscriptions: 2))
        }
    }
}
