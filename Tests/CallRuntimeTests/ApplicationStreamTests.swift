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
                guard case .notAllowed(let seen, let obstacle) = error as? ApplicationRefusal else { return false }
                return seen.state == .ringing && obstacle == .stateForStream(.ringing)
            }
            #expect(rig.media.streams.isEmpty)
            _ = try await perform(rig, .answer(CustomContent()), call.id)
            let first = try await open(rig, call.id)
            #expect(spokenStreams(rig) == [first])
            let start = try #require(rig.media.streams[first]?.start)
            #expect(start.call == call.id.rawValue && start.application == name.name.description)
            #expect(start.from == alice.text && start.to == address.text && start.stream == first.description)
            await #expect {
                _ = try await open(rig, call.id)
            } throws: { error in
                guard case .notAllowed(_, let obstacle) = error as? ApplicationRefusal else { return false }
                return obstacle == .hasStream
            }
            // The end of another socket is not that of this one.
            await rig.switchboard.closed(StreamID(first.rawValue &+ 1), in: call.id, by: name)
            await #expect(throws: ApplicationRefusal.self) { try await open(rig, call.id) }
            await rig.switchboard.closed(first, in: call.id, by: name)
            #expect(rig.media.streams.isEmpty)
            let second = try await open(rig, call.id)
            #expect(second != first && spokenStreams(rig) == [first, second])
            await rig.switchboard.closed(second, in: call.id, by: name, because: .ended)
            _ = try await perform(rig, .hold, call.id)
            await #expect(throws: ApplicationRefusal.self) { try await open(rig, call.id) }
        }
    }

    private func waiting(_ fallback: StreamOrder.Fallback, _ limit: Duration = .seconds(5)) -> StreamTerms {
        StreamTerms(dialect: .own, format: .standard, waiting: .init(limit: limit), fallback: fallback)
    }

    private func answered(_ rig: RuntimeRig) async throws -> ApplicationCall {
        let (_, call) = try await incoming(rig)
        return try await perform(rig, .answer(CustomContent()), call.id)
    }

    @Test(arguments: StreamOrder.Fallback.allCases)
    func `a program that has opened its stream and does not come back is given up`(
        _ fallback: StreamOrder.Fallback
    ) async throws {
        try await serve(try application { $0.fallback = .reject(.busy) }) { rig in
            let call = try await answered(rig)
            let stream = try await rig.switchboard.open(StreamLink(), waiting(fallback), in: call.id, by: name)
            rig.clock.advance(by: .seconds(20))
            await rig.switchboard.closed(stream, in: call.id, by: name)
            #expect(try await rig.switchboard.call(call.id, of: name).stream == .waiting)
            rig.clock.advance(by: .milliseconds(4_999))
            await rig.settle()
            let before = try await rig.switchboard.call(call.id, of: name)
            #expect(before.stream == .waiting && before.state == .talking)
            rig.clock.advance(by: .milliseconds(1))
            let after = try await look(rig, call.id) {
                $0.stream == nil && ($0.state == .talking) == (fallback == .none)
            }
            #expect(after.state.phase == (fallback == .none ? .talking : .ended))
            // A call that goes on may have a stream again.
            if fallback == .none { _ = try await open(rig, call.id) }
        }
    }

    /// A call that is not answered yet, whose program is given up.
    private func lostBeforeTheAnswer(_ rig: RuntimeRig) async throws -> ApplicationCall {
        let (_, call) = try await incoming(rig, earlyMedia: true)
        _ = try await perform(rig, .progress(nil), call.id)
        let stream = try await rig.switchboard.open(StreamLink(), waiting(.application), in: call.id, by: name)
        await rig.switchboard.closed(stream, in: call.id, by: name, because: .final)
        rig.clock.advance(by: .milliseconds(1))
        return call
    }

    @Test func `a caller that waits for an answer has what is configured when the program is given up`() async throws {
        let list = PlayList(file: "welcome.wav")
        try await serve(try application { $0.fallback = .announce(list) }) { rig in
            let call = try await lostBeforeTheAnswer(rig)
            let after = try await look(rig, call.id) { $0.state == .talking && $0.playing != nil }
            #expect(after.stream == nil)
            await rig.wait { spoken(rig).contains(.play(list, number: 1, tag: nil, .replace)) }
            rig.mediaEvents.post(
                .played(PlayedList(number: 1, tag: nil, heard: 900, outcome: .completed), .callee), for: call.call)
            await rig.wait { rig.observer.counts.ended.count == 1 }
        }
        try await serve(try application { $0.fallback = .reject(.busy) }) { rig in
            _ = try await lostBeforeTheAnswer(rig)
            await rig.wait { rig.observer.counts.ended.count == 1 }
            #expect(rig.observer.counts.ended.map(\.cause) == [.unreachable(.busy)])
        }
    }

    @Test func `a program that comes back in time goes on, also while the call is held`() async throws {
        try await serve(try application()) { rig in
            let call = try await answered(rig)
            let first = try await rig.switchboard.open(StreamLink(), waiting(.end), in: call.id, by: name)
            _ = try await perform(rig, .hold, call.id)
            await rig.switchboard.closed(first, in: call.id, by: name)
            rig.clock.advance(by: .seconds(3))
            let second = try await rig.switchboard.open(StreamLink(), waiting(.end), in: call.id, by: name)
            #expect(try await rig.switchboard.call(call.id, of: name).stream == .open)
            rig.clock.advance(by: .seconds(20))
            await rig.settle()
            _ = try await perform(rig, .resume, call.id)
            _ = try await look(rig, call.id) { $0.state == .talking }
            // Whoever closes the socket in good order is not waited for.
            await rig.switchboard.closed(second, in: call.id, by: name, because: .ended)
            #expect(try await rig.switchboard.call(call.id, of: name).stream == nil)
            rig.clock.advance(by: .seconds(20))
            await rig.settle()
            #expect(try await rig.switchboard.call(call.id, of: name).state == .talking)
        }
    }

    @Test func `a program that breaks the rules is given up at once`() async throws {
        try await serve(try application()) { rig in
            let call = try await answered(rig)
            let stream = try await rig.switchboard.open(StreamLink(), waiting(.end), in: call.id, by: name)
            await rig.switchboard.closed(stream, in: call.id, by: name, because: .final)
            rig.clock.advance(by: .milliseconds(1))
            _ = try await look(rig, call.id) { $0.state.phase == .ended }
        }
    }

    @Test func `the gateway may take the place of a program that is waited for, and a limit lets it`() async throws {
        try await serve(try application { $0.maximumStreams = 1 }) { rig in
            let call = try await answered(rig)
            let first = try await rig.switchboard.open(StreamLink(), waiting(.end), in: call.id, by: name)
            await rig.switchboard.closed(first, in: call.id, by: name)
            let full = ApplicationRefusal.limited(.streamsOfApplication, retryAfter: nil)
            let listening = StreamTerms(
                dialect: .own, format: .standard, configuration: .init(isListener: true), listens: .call)
            // The place of a program that is waited for is kept.
            await #expect(throws: full) {
                try await rig.switchboard.open(StreamLink(), listening, in: call.id, by: name)
            }
            let again = try await rig.switchboard.open(StreamLink(), waiting(.end), in: call.id, by: name)
            await rig.switchboard.closed(again, in: call.id, by: name)
            let url = try #require(WebSocketURL(parsing: "wss://bot.example.com/talk"))
            let order = StreamOrder(StreamDestination(url: url), waiting(.none))
            let connecting = try await rig.switchboard.stream(
                .connect(order), in: call.id, by: name, expecting: nil)
            #expect(connecting.stream == .connecting)
            // The program that was waited for is not missed any more.
            rig.clock.advance(by: .seconds(10))
            await rig.settle()
            #expect(try await rig.switchboard.call(call.id, of: name).state == .talking)
        }
    }

    @Test func `only its own application opens a stream`() async throws {
        try await serve(try application()) { rig in
            let (_, call) = try await incoming(rig)
            _ = try await perform(rig, .answer(CustomContent()), call.id)
            let other = try #require(ApplicationIdentity("other#2"))
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
            // What a program asks for is counted like what is asked of the interface.
            #expect(
                rig.observer.counts.requests.suffix(3) == ["send_digits done", "answer not_allowed", "end done"],
                "\(rig.observer.counts.requests)")
        }
    }
}
