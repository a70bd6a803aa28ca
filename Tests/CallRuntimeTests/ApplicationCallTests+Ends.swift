import CallControl
import CallRuntime
import CallSupport
import EventAPI
import Primitives
import SDP
import TestSupport
import Testing

/// What the end of the call cuts off: the application is told what plays, waits and is gathered.
extension ApplicationCallTests {
    /// The ends of lists and gatherings, as programs are told them.
    private func ends(_ journal: RecordingJournal) -> [EventBody] {
        journal.entries.compactMap { entry in
            guard case .published(let publication) = entry else { return nil }
            return ["playback.ended", "gather.ended"].contains(publication.body.type) ? publication.body : nil
        }
    }

    @Test func `what the end of the call cuts off is told behind it, with what was heard and pressed`() async throws {
        let trace = try #require(TraceContext("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
        var configuration = LocalSwitchboard.Configuration(media: .anchored)
        configuration.call.mediaPolicy = .engine
        let journal = RecordingJournal()
        try await RuntimeRig(configuration, applications: [try application()], journal: journal).serve { rig in
            try await rig.register(alice, on: 1)
            let request = try ApplicationCallRequest(to: alice, from: address, trace: trace)
            let started = try await rig.switchboard.start(request, by: name)
            let session = try await rig.incoming(on: 1)
            let answer = try Fixtures.text("sdp/chromium-156/answer-audio.sdp")
            try await rig.switchboard.answer(alice, session, CallAnswerRequest(sdp: answer))
            let call = try await look(rig, started.id) { $0.state == .talking }
            let list = try PlayList(items: [.silence(.seconds(9))], loops: nil, volume: 0)
            _ = try await perform(rig, .play(PlayRequest(list: list, tag: "one")), call.id)
            _ = try await perform(rig, .play(PlayRequest(list: list, mode: .queue, tag: "two")), call.id)
            _ = try await perform(rig, .gather(GatherRequest(maximum: 4, tag: "pin")), call.id)
            rig.mediaEvents.post(.keyPressed(.four, milliseconds: 80, .callee), for: call.call)
            _ = try await look(rig, call.id) { $0.gathering?.keys == [.four] }

            try await rig.switchboard.end(alice, session, reasonText: nil)
            _ = try await look(rig, call.id) { $0.state.phase == .ended }
            await rig.wait { ends(journal).count == 1 }
            let lists = [
                PlayedList(number: 1, tag: "one", heard: 1_980, outcome: .callEnded),
                PlayedList(number: 2, tag: "two", heard: 0, outcome: .callEnded),
            ]
            for list in lists { rig.mediaEvents.post(.played(list, .caller), for: call.call) }
            await rig.wait { ends(journal).count == 3 }
            let told = ends(journal)
            #expect(told.map(\.type) == ["gather.ended", "playback.ended", "playback.ended"])
            #expect(told.map { $0.data["keys"] } == [.string("4"), nil, nil])
            #expect(told.map { $0.data["heardMilliseconds"] } == [nil, .integer(1_980), .integer(0)])
            #expect(told.map { $0.data["tag"] } == [.string("pin"), .string("one"), .string("two")])
            for body in told {
                #expect(body.call == call.call.description && body.leg == 0 && body.sequence == nil)
                #expect(body.data["outcome"] == .string("callEnded") && body.traceparent == trace)
            }
            let seen = try await look(rig, call.id) { $0.played != nil }
            #expect(seen.played == lists[0] && seen.playing == nil && seen.gathering == nil)
            await rig.switchboard.drain()
            await rig.switchboard.setApplications([])
            await rig.settle()
        }
    }
}
