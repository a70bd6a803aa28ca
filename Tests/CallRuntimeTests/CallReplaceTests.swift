import CallControl
import CallRuntime
import CallSupport
import SDP
import SPiDR
import TestSupport
import Testing

/// A consultative transfer that replaces a call (spidr-wire §8.8), between the owners of two calls and three users.
struct CallReplaceTests {
    private let alice = RuntimeRig.alice
    private let bob = RuntimeRig.bob
    private let carol = RuntimeRig.carol
    private let offer: String
    private let answer: String

    init() throws {
        offer = try Fixtures.text("sdp/chromium-156/offer-audio-video.sdp")
        answer = try Fixtures.text("sdp/chromium-156/answer-to-chromium-offer.sdp")
    }

    /// Alice talks to Bob and, in another call, to Carol; returns her sessions.
    private func twoCalls(_ rig: RuntimeRig, listing: Bool) async throws -> (toBob: SessionID, toCarol: SessionID) {
        var sessions: [SessionID] = []
        for (socket, user) in [alice, bob, carol].enumerated() { try await rig.register(user, on: UInt64(socket + 1)) }
        for (socket, callee) in [(2, bob), (3, carol)] as [(UInt64, UserAddress)] {
            let request = CallStartRequest(callee: callee, sdp: offer, handlesReplacement: listing)
            sessions.append(try await rig.switchboard.startCall(alice, request))
            let incoming = try await rig.incoming(on: socket)
            try await rig.switchboard.answer(
                callee, incoming, CallAnswerRequest(sdp: answer, handlesReplacement: listing))
        }
        return (sessions[0], sessions[1])
    }

    @Test func `the target gets a new call, and nothing changes hands`() async throws {
        try await RuntimeRig(.init()).serve { rig in
            let own = try await twoCalls(rig, listing: true)
            let old = try await rig.incoming(on: 3)
            // The second time because the answer to the first was lost.
            for _ in 0..<2 {
                try await rig.switchboard.transfer(alice, own.toBob, to: carol, consultation: own.toCarol)
            }
            await rig.expect(["call", "callCancel", "startCallReplace"], on: 3)
            let invitation = try #require(rig.recorder.frames(3).last?.notification)
            let replacing = try #require(invitation.session)
            #expect(invitation.replaces == old)
            try await rig.switchboard.answer(carol, replacing, CallAnswerRequest(sdp: answer, acceptsReplacement: true))
            await rig.expect(["call", "callCancel", "startCallReplace", "callEnd"], on: 3)
            await rig.expect(["call", "callCancel", "startCallUpdate"], on: 2)
            await rig.expect(
                ["ringing", "respondCallUpdate", "ringing", "respondCallUpdate", "sessionComplete", "callEnd"], on: 1)
            #expect(try await rig.switchboard.callSession(carol, replacing).state == .inCall)
            await #expect(throws: CallError.noSuchCall) { try await rig.switchboard.callSession(carol, old) }
            rig.clock.advance(by: .milliseconds(100))
            await #expect(throws: CallError.noSuchCall) { try await rig.switchboard.audit(alice, own.toCarol) }
            try await rig.switchboard.end(alice, own.toBob, reasonText: nil)
            try await rig.switchboard.end(carol, replacing, reasonText: nil)
            await rig.wait { rig.observer.counts.ended.count == 2 }
            #expect(adoptions(rig) == [])
        }
    }

    /// Carol changes calls: her offer is for whichever call has her then.
    @Test func `an offer that meets a handover is answered by the call that has the leg afterwards`() async throws {
        let hold = answer.replacing("a=setup:active", with: "a=setup:actpass").replacing(
            "a=sendrecv", with: "a=inactive"
        )
        .replacing(" 2 IN IP4", with: " 3 IN IP4")
        for seed in 1...60 as ClosedRange<UInt64> {
            try await RuntimeRig(.init(), seed: seed).serve { rig in
                let own = try await twoCalls(rig, listing: false)
                let carols = try await rig.incoming(on: 3)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        try await rig.switchboard.transfer(alice, own.toBob, to: carol, consultation: own.toCarol)
                    }
                    group.addTask {
                        for _ in 0..<seed { await Task.yield() }
                        try await rig.switchboard.offer(carol, carols, CallUpdateRequest(sdp: hold))
                    }
                    try await group.waitForAll()
                }
                await rig.wait { rig.recorder.trace(1).contains("sessionComplete") }
                try await rig.switchboard.end(alice, own.toBob, reasonText: nil)
                try await rig.switchboard.end(carol, carols, reasonText: nil)
                await rig.wait { rig.observer.counts.ended.count == 2 }
            }
        }
    }

    @Test func `a declined one leaves both calls, and the new session is nobody's`() async throws {
        try await RuntimeRig(.init()).serve { rig in
            let own = try await twoCalls(rig, listing: true)
            let old = try await rig.incoming(on: 3)
            try await rig.switchboard.transfer(alice, own.toBob, to: carol, consultation: own.toCarol)
            await rig.expect(["call", "callCancel", "startCallReplace"], on: 3)
            let replacing = try #require(rig.recorder.frames(3).last?.notification.session)
            try await rig.switchboard.reject(carol, replacing, replacement: true)
            await rig.expect(["ringing", "respondCallUpdate", "ringing", "respondCallUpdate", "sessionFail"], on: 1)
            await rig.expect(["call", "callCancel", "startCallReplace", "callCancel"], on: 3)
            await rig.settle()
            rig.clock.advance(by: .milliseconds(100))
            await #expect(throws: CallError.noSuchCall) { try await rig.switchboard.audit(carol, replacing) }
            for (user, session) in [(alice, own.toBob), (alice, own.toCarol), (carol, old)] {
                try await rig.switchboard.audit(user, session)
            }
            for session in [own.toBob, own.toCarol] { try await rig.switchboard.end(alice, session, reasonText: nil) }
            await rig.wait { rig.observer.counts.ended.count == 2 }
        }
    }

    /// With a consultation and without one.
    @Test(arguments: [true, false])
    func `transfers that come at once are one`(_ isConsultative: Bool) async throws {
        try await RuntimeRig(.init()).serve { rig in
            let own = try await twoCalls(rig, listing: true)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for delay in 0..<40 {
                    group.addTask {
                        // So that each meets the first one at another step.
                        for _ in 0..<delay { await Task.yield() }
                        try await rig.switchboard.transfer(
                            alice, own.toBob, to: carol, consultation: isConsultative ? own.toCarol : nil)
                    }
                }
                try await group.waitForAll()
            }
            await rig.expect(["call", "callCancel", isConsultative ? "startCallReplace" : "call"], on: 3)
            for session in [own.toBob, own.toCarol] { try await rig.switchboard.end(alice, session, reasonText: nil) }
            await rig.wait { rig.observer.counts.ended.count == 2 }
        }
    }

    @Test func `without it the target changes calls, and its media follows`() async throws {
        try await RuntimeRig(.init()).serve { rig in
            let own = try await twoCalls(rig, listing: false)
            let old = try await rig.incoming(on: 3)
            try await rig.switchboard.transfer(alice, own.toBob, to: carol, consultation: own.toCarol)
            await rig.expect(["call", "callCancel", "startCallUpdate"], on: 3)
            await rig.expect(["call", "callCancel", "startCallUpdate"], on: 2)
            #expect(adoptions(rig) == [.callee])
            #expect(try await rig.switchboard.callSession(carol, old).state == .inCall)
            try await rig.switchboard.end(alice, own.toBob, reasonText: nil)
            try await rig.switchboard.end(carol, old, reasonText: nil)
            await rig.wait { rig.observer.counts.ended.count == 2 }
        }
    }

    /// Which legs of other calls calls have asked the media plane for.
    private func adoptions(_ rig: RuntimeRig) -> [LegID] {
        rig.recorder.mediaCommands.compactMap { if case .adopt(let leg, _, _) = $0 { leg } else { nil } }
    }
}
