import CallControl
import CallRuntime
import CallSupport
import Primitives
import Registration
import SDP
import TestSupport
import Testing

/// However often somebody else is rung in a call, nobody takes the place of somebody who is in it.
@Suite struct `Numbers of ends` {
    private let alice = RuntimeRig.alice
    private let bob = RuntimeRig.bob
    private let carol = RuntimeRig.carol
    private let offer: String
    private let answer: String

    init() throws {
        offer = try Fixtures.text("sdp/chromium-156/offer-audio-video.sdp")
        answer = try Fixtures.text("sdp/chromium-156/answer-to-chromium-offer.sdp")
    }

    private func configuration(_ media: LocalSwitchboard.Configuration.Media) -> LocalSwitchboard.Configuration {
        var configuration = LocalSwitchboard.Configuration(media: media, busy: media == .anchored ? .reject : .ring)
        configuration.registration.callRate.burst = 1_000
        return configuration
    }

    private func connect(_ rig: RuntimeRig) async throws -> (alice: SessionID, bob: SessionID) {
        let own = try await rig.call(sdp: offer)
        let incoming = try await rig.incoming(on: 2)
        try await rig.switchboard.answer(bob, incoming, CallAnswerRequest(sdp: answer))
        await rig.wait { rig.recorder.trace(1).contains("respondCallUpdate") }
        return (own, incoming)
    }

    private func count(_ type: String, on socket: UInt64, _ rig: RuntimeRig) -> Int {
        rig.recorder.trace(socket).count { $0 == type }
    }

    /// Carol has no device, or declines each time.
    @Test(arguments: [false, true])
    func `300 transfers that fail leave the call as it is, and the next one goes where it should`(_ declines: Bool)
        async throws
    {
        try await RuntimeRig(configuration(.anchored)).serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            if declines { try await rig.register(carol, on: 3) }
            let session = try await connect(rig)
            let before = rig.recorder.mediaCommands
            for attempt in 1...300 {
                try await rig.switchboard.transfer(bob, session.bob, to: carol, consultation: nil)
                if declines {
                    await rig.wait { count("call", on: 3, rig) == attempt }
                    try await rig.switchboard.reject(carol, rig.incoming(on: 3), replacement: false)
                }
                await rig.wait { count("sessionFail", on: 2, rig) == attempt }
            }
            // Nothing was done to the media of the two who talk.
            let during = rig.recorder.mediaCommands.dropFirst(before.count)
            #expect(!during.contains { $0.concerns(.caller) || $0.concerns(.callee) })
            #expect(declines || during.isEmpty)
            #expect(await rig.switchboard.callSessions(carol).isEmpty)
            for (user, own) in [(alice, session.alice), (bob, session.bob)] {
                #expect(try await rig.switchboard.callSession(user, own).state == .inCall)
            }

            if !declines { try await rig.register(carol, on: 3) }
            let rung = count("call", on: 3, rig)
            try await rig.switchboard.transfer(bob, session.bob, to: carol, consultation: nil)
            await rig.wait { count("call", on: 3, rig) == rung + 1 }
            // A number is taken only when somebody is rung.
            #expect(rig.recorder.mediaCommands.contains { $0.concerns(LegID(declines ? 302 : 2)) })
            let incoming = try await rig.incoming(on: 3)
            try await rig.switchboard.answer(carol, incoming, CallAnswerRequest(sdp: answer))
            await rig.wait { count("startCallUpdate", on: 1, rig) == 1 && count("sessionComplete", on: 2, rig) == 1 }
            #expect(try await rig.switchboard.callSession(carol, incoming).state == .inCall)
            try await rig.switchboard.end(bob, session.bob, reasonText: nil)
            try await rig.switchboard.end(alice, session.alice, reasonText: nil)
            await rig.wait { count("callEnd", on: 3, rig) == 1 && rig.observer.counts.ended.count == 1 }
            await rig.settle()

            // Nobody is left busy.
            for user in [alice, bob, carol] { #expect(await rig.switchboard.callSessions(user).isEmpty) }
            let next = try await rig.call(alice, from: carol, sdp: offer)
            await rig.wait { count("call", on: 1, rig) == 1 }
            try await rig.switchboard.end(carol, next, reasonText: nil)
            await rig.wait { rig.observer.counts.ended.count == 2 }
        }
    }

    @Test func `a call goes to five other addresses, and attempts that reach nobody do not count`() async throws {
        try await RuntimeRig(configuration(.direct)).serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            try await rig.register(carol, on: 3)
            _ = try await rig.call()
            let nobody = try #require(UserAddress(parsing: "nobody@example.com"))
            for turn in 1...6 {
                let (user, other, socket) =
                    turn.isMultiple(of: 2) ? (carol, bob, 3) : (bob, carol, 2) as (UserAddress, UserAddress, UInt64)
                await rig.wait { count("call", on: socket, rig) == (turn + 1) / 2 }
                let session = try await rig.incoming(on: socket)
                for _ in 0..<10 where turn < 6 {
                    await #expect(throws: CallError.unreachable(.noSuchUser)) {
                        try await rig.switchboard.forward(user, session, to: nobody)
                    }
                }
                if turn < 6 {
                    try await rig.switchboard.forward(user, session, to: other)
                } else {
                    await #expect(throws: CallError.unsupported(.forwards(limit: 5))) {
                        try await rig.switchboard.forward(user, session, to: other)
                    }
                    try await rig.switchboard.reject(user, session, replacement: false)
                }
            }
            await rig.wait { rig.observer.counts.ended.count == 1 }
        }
    }
}

extension MediaCommand {
    /// Whether it changes anything for this end.
    fileprivate func concerns(_ leg: LegID) -> Bool {
        switch self {
        case .prepare(leg, _), .prepareHeadless(leg, _), .connect(leg, _), .route(leg, _), .play(_, _, to: leg),
            .stopPlaying(to: leg),
            .sendDigits(_, to: leg),
            .adopt(_, _, as: leg), .releaseLeg(leg), .release:
            true
        default: false
        }
    }
}
