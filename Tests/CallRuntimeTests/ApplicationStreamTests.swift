import AudioStreams
import CallControl
import CallRuntime
import CallSupport
import Primitives
import TestSupport
import Testing

/// Streams of calls: who may open one and when, what the media plane gets, and what programs ask for.
extension ApplicationCallTests {
    private static let terms = StreamTerms(dialect: .own, format: .standard)

    private func open(_ rig: RuntimeRig, _ id: SessionID) async throws -> StreamID {
        try await rig.switchboard.open(StreamLink(), Self.terms, in: id, by: name)
    }

    private func spokenStreams(_ rig: RuntimeRig) -> [StreamID] {
        rig.recorder.mediaCommands.compactMap { command in
            if case .say(_, .stream(let stream)) = command { stream } else { nil }
        }
    }

    @Test func `a call has one stream at a time, while it may play`() async throws {
        try await serve(try application()) { rig in
            let (_, call) = try await incoming(rig)
            await #expect {
                _ = try await open(rig, call.id)
            } throws: { error in
                guard case .notAllowed(let seen, let sentence) = error as? ApplicationRefusal else { return false }
                return seen.state == .ringing && sentence.contains("ringing")
            }
            #expect(rig.media.streams.isEmpty)
            _ = try await perform(rig, .answer(CustomContent()), call.id)
            let first = try await open(rig, call.id)
            #expect(spokenStreams(rig) == [first])
            let start = try #require(rig.media.streams[first]?.start)
            #expect(start.call == call.id.rawValue && start.application == name.description)
            #expect(start.from == alice.text && start.to == address.text && start.stream == first.description)
            await #expect {
                _ = try await open(rig, call.id)
            } throws: { error in
                guard case .notAllowed(_, let sentence) = error as? ApplicationRefusal else { return false }
                return sentence.contains("already")
            }
            // The end of another socket is not that of this one.
            await rig.switchboard.closed(StreamID(first.rawValue &+ 1), in: call.id, by: name)
            await #expect(throws: ApplicationRefusal.self) { try await open(rig, call.id) }
            await rig.switchboard.closed(first, in: call.id, by: name)
            #expect(rig.media.streams.isEmpty)
            let second = try await open(rig, call.id)
            #expect(second != first && spokenStreams(rig) == [first, second])
            _ = try await perform(rig, .hold, call.id)
            await rig.switchboard.closed(second, in: call.id, by: name)
            await #expect(throws: ApplicationRefusal.self) { try await open(rig, call.id) }
        }
    }

    @Test func `only its own application opens a stream`() async throws {
        try await serve(try application()) { rig in
            let (_, call) = try await incoming(rig)
            _ = try await perform(rig, .answer(CustomContent()), call.id)
            let other = try #require(ApplicationName("other"))
            await #expect(throws: ApplicationRefusal.noSuchCall) {
                try await rig.switchboard.open(StreamLink(), Self.terms, in: call.id, by: other)
            }
            await #expect(throws: ApplicationRefusal.noSuchCall) { try await open(rig, SessionID("nothing")) }
        }
    }

    @Test func `a program presses keys and ends the call on its stream`() async throws {
        try await serve(try application()) { rig in
            let (_, call) = try await incoming(rig)
            _ = try await perform(rig, .answer(CustomContent()), call.id)
            _ = try await open(rig, call.id)
            let digits = try #require(DigitSequence("12#"))
            rig.mediaEvents.post(.streamAsks(.press(digits), .callee), for: call.call)
            await rig.wait { rig.recorder.mediaCommands.contains(.sendDigits(digits, to: .caller)) }
            // A key is told to the program as it is to the application.
            rig.mediaEvents.post(.keyPressed(.five, milliseconds: 80, .caller), for: call.call)
            let link = try #require(rig.media.streams.values.first?.link)
            var keys: [(Character, Int?)] = []
            for _ in 0..<10_000 where keys.isEmpty {
                keys = link.takeKeys()
                await Task.yield()
            }
            #expect(keys.map(\.0) == ["5"] && keys.map(\.1) == [80])
            // What the call does not allow does not happen.
            rig.mediaEvents.post(.streamAsks(.answer, .callee), for: call.call)
            rig.mediaEvents.post(.streamAsks(.end, .callee), for: call.call)
            let ended = try await look(rig, call.id) { $0.state.phase == .ended }
            #expect(ended.state == .ended(.completed(by: .callee, reasonText: nil)))
        }
    }
}
