import CallControl
import CallRuntime
import CallSupport
import SDP
import SPiDR
import TestSupport
import Testing

/// What the gateway plays, presses and measures in a call.
struct CallMediaTests {
    private let alice = RuntimeRig.alice
    private let bob = RuntimeRig.bob

    @Test func `a playback goes to the media plane, and its end to who asked for it`() async throws {
        try await AnchoredRig.serve { rig, a in
            try await rig.switchboard.play(alice, a, Playback(.file("welcome.wav")), to: .peer)
            let callID = try #require(rig.media.lastCall)
            #expect(rig.recorder.mediaCommands.last == .play(Playback(.file("welcome.wav")), number: 1, to: .callee))
            rig.mediaEvents.post(.playbackEnded(7, .callee), for: callID)
            rig.mediaEvents.post(.playbackEnded(1, .callee), for: callID)
            rig.mediaEvents.post(.playbackEnded(1, .callee), for: callID)
            await rig.expect(["ringing", "respondCallUpdate", "mediaEnded"], on: 1)
            #expect(rig.recorder.mediaCommands.last == .stopPlaying(to: .callee))
            await rig.settle()
            #expect(rig.recorder.trace(1).count { $0 == "mediaEnded" } == 1)
            #expect(!rig.recorder.trace(2).contains("mediaEnded"))
        }
    }

    @Test func `what is not there is not played, and stopping silence is nothing`() async throws {
        try await AnchoredRig.serve { rig, a in
            let before = rig.recorder.mediaCommands.count
            await #expect(throws: CallError.unplayable(.notFound("x"))) {
                try await rig.switchboard.play(alice, a, Playback(.file("x")), to: .peer)
            }
            try await rig.switchboard.stopPlaying(alice, a, to: .both)
            #expect(rig.recorder.mediaCommands.count == before)
        }
    }

    @Test func `digits are pressed for either end`() async throws {
        try await AnchoredRig.serve { rig, a in
            let digits = try #require(DigitSequence("1a#"))
            #expect(digits.digits == "1A#")
            try await rig.switchboard.sendDigits(alice, a, digits, to: .both)
            #expect(
                rig.recorder.mediaCommands.suffix(2) == [
                    .sendDigits(digits, to: .caller), .sendDigits(digits, to: .callee),
                ])
        }
    }

    @Test func `digits that find no room are refused as a whole, and have room when others have been pressed`()
        async throws
    {
        try await AnchoredRig.serve { rig, a in
            let hundred = try #require(
                DigitSequence(String(repeating: "1", count: 100), duration: .milliseconds(100), gap: .milliseconds(70)))
            let more = try #require(DigitSequence("2222222222222222222222222222,,"))
            let before = rig.recorder.mediaCommands.count
            try await rig.switchboard.sendDigits(alice, a, hundred, to: .peer)
            try await rig.switchboard.sendDigits(alice, a, more, to: .own)
            // 100 × (100 + 70 + 40) ms.
            for target in [MediaTarget.peer, .both] {
                await #expect(throws: CallError.digitsWaiting(limit: 128, retryAfter: .seconds(21))) {
                    try await rig.switchboard.sendDigits(alice, a, more, to: target)
                }
            }
            // What was refused for the peer was not pressed for the own end either.
            #expect(rig.recorder.mediaCommands.count == before + 2)
            rig.clock.advance(by: .seconds(21))
            try await rig.switchboard.sendDigits(alice, a, more, to: .both)
            #expect(rig.recorder.mediaCommands.count == before + 4)
        }
    }

    @Test func `a call that is not answered yet, or not anchored, has no media to choose`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            let a = try await rig.call()
            await #expect(throws: CallError.notAllowed(.play, .state(.ringing))) {
                try await rig.switchboard.play(alice, a, Playback(.music), to: .peer)
            }
            await #expect(throws: CallError.notAllowed(.play, .state(.ringing))) {
                try await rig.switchboard.play(alice, a, Playback(.file("welcome.wav")), to: .peer)
            }
            #expect(rig.media.loadCount == 0, "nothing is read for a call that cannot play it")
            try await rig.switchboard.answer(bob, rig.incoming(on: 2), CallAnswerRequest(sdp: "answer"))
            await #expect(throws: CallError.notAllowed(.play, .directMedia)) {
                try await rig.switchboard.play(alice, a, Playback(.music), to: .peer)
            }
            let (own, statistics) = try await rig.switchboard.statistics(alice, a)
            #expect(own == .caller)
            #expect(statistics.legs.isEmpty)
        }
    }

    @Test func `quality is told to those who asked for it`() async throws {
        try await AnchoredRig.serve { rig, _ in
            let callID = try #require(rig.media.lastCall)
            rig.mediaEvents.post(.qualityMeasured(CallQuality(roundTrip: .milliseconds(12)), .caller), for: callID)
            rig.mediaEvents.post(.qualityMeasured(CallQuality(roundTrip: .milliseconds(13)), .callee), for: callID)
            await rig.expect(["call", "callCancel", "callQuality"], on: 2)
            #expect(rig.recorder.frames(2).last?.notification.quality == CallQuality(roundTrip: .milliseconds(13)))
            #expect(!rig.recorder.trace(1).contains("callQuality"))
        }
    }
}

/// A call of Alice, on socket 1, to Bob, on socket 2, whose media is anchored; Bob's device asked for quality.
private enum AnchoredRig {
    static func serve(_ body: (RuntimeRig, SessionID) async throws -> Void) async throws {
        try await RuntimeRig(.init(media: .anchored)).serve { rig in
            try await rig.register(RuntimeRig.alice, on: 1)
            try await rig.register(RuntimeRig.bob, on: 2, services: ["call", "quality"])
            let session = try await rig.call(sdp: Fixtures.text("sdp/chromium-156/offer-audio-video.sdp"))
            let answer = try Fixtures.text("sdp/chromium-156/answer-to-chromium-offer.sdp")
            try await rig.switchboard.answer(RuntimeRig.bob, rig.incoming(on: 2), CallAnswerRequest(sdp: answer))
            await rig.expect(["ringing", "respondCallUpdate"], on: 1)
            try await body(rig, session)
        }
    }
}
