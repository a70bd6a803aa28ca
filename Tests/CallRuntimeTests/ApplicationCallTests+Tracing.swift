import AudioStreams
import CallControl
import CallRuntime
import CallSupport
import EventAPI
import Primitives
import SDP
import TestSupport
import Testing

/// The trace of the request that started a call: it is kept with the call, and comes with its events and streams.
extension ApplicationCallTests {
    private static let trace = TraceContext("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")!
    /// Of a command.
    private static let own = TraceContext("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")!

    private func serveTraced(
        _ test: (RuntimeRig, RecordingJournal) async throws -> Void
    ) async throws {
        var configuration = LocalSwitchboard.Configuration(media: .anchored)
        configuration.call.mediaPolicy = .engine
        let journal = RecordingJournal()
        try await RuntimeRig(configuration, applications: [try application()], journal: journal).serve { rig in
            for (user, socket) in [(alice, 1), (bob, 2)] as [(UserAddress, UInt64)] {
                try await rig.register(user, on: socket)
            }
            try await test(rig, journal)
            await rig.switchboard.drain()
            await rig.switchboard.setApplications([])
            await rig.settle()
        }
    }

    /// The traces that the public events of a call have, each once.
    private func traces(_ journal: RecordingJournal, of call: CallID) -> Set<TraceContext?> {
        Set(
            journal.entries.compactMap { entry -> TraceContext?? in
                guard case .published(let publication) = entry, publication.body.call == call.description else {
                    return nil
                }
                return .some(publication.body.traceparent)
            })
    }

    /// A call of the application to a user, who has answered it.
    private func answered(
        _ rig: RuntimeRig, _ user: UserAddress, on socket: UInt64, tracing trace: TraceContext?
    ) async throws -> ApplicationCall {
        let request = try ApplicationCallRequest(to: user, from: address, trace: trace)
        let call = try await rig.switchboard.start(request, by: name)
        let session = try await rig.incoming(on: socket)
        let answer = try Fixtures.text("sdp/chromium-156/answer-audio.sdp")
        try await rig.switchboard.answer(user, session, CallAnswerRequest(sdp: answer))
        return try await look(rig, call.id) { $0.state == .talking }
    }

    @Test func `events and streams of a call have the trace of the request that started it`() async throws {
        try await serveTraced { rig, journal in
            let call = try await answered(rig, alice, on: 1, tracing: Self.trace)
            #expect(call.trace == Self.trace)
            let stream = try await rig.switchboard.open(
                StreamLink(), StreamTerms(dialect: .own, format: .standard), in: call.id, by: name)
            #expect(rig.media.streams[stream]?.start.traceparent == Self.trace.description)
            _ = try await perform(rig, .end(reasonText: nil), call.id)
            await rig.wait { rig.observer.counts.ended.count == 1 }
            #expect(traces(journal, of: call.call) == [Self.trace])
        }
    }

    @Test func `an opening handshake has the trace of the call behind the fields of the application, each time`()
        async throws
    {
        try await serveTraced { rig, _ in
            let url = try #require(WebSocketURL(parsing: "wss://bot.example.com/talk"))
            let own = StreamDestination.Field(name: "X-Order", value: Redacted("7"))
            let order = StreamOrder(
                StreamDestination(url: url, fields: [own]), StreamTerms(dialect: .twilio, format: .standard))
            let calls: [(TraceContext?, UserAddress, UInt64)] = [(Self.trace, alice, 1), (nil, bob, 2)]
            for (trace, user, socket) in calls {
                let call = try await answered(rig, user, on: socket, tracing: trace)
                let before = rig.programs.attempts.count
                _ = try await rig.switchboard.stream(.connect(order), in: call.id, by: name, expecting: nil)
                rig.programs.attempts[before].tell(.lost(.transient, "no connection"))
                await rig.settle()
                for _ in 0..<20 where rig.programs.attempts.count == before + 1 {
                    rig.clock.advance(by: .milliseconds(500))
                    await rig.settle()
                }
                let destinations = rig.programs.attempts[before...].map(\.destination)
                let field = trace.map { StreamDestination.Field(name: "traceparent", value: Redacted($0.description)) }
                #expect(destinations.count == 2)
                #expect(destinations.allSatisfy { $0.fields == [own] + (field.map { [$0] } ?? []) })
                _ = try await perform(rig, .end(reasonText: nil), call.id)
            }
        }
    }

    @Test func `a stream has the trace of the command that opens it, each time, and events that of the call`()
        async throws
    {
        try await serveTraced { rig, journal in
            let url = try #require(WebSocketURL(parsing: "wss://bot.example.com/talk"))
            let order = StreamOrder(
                StreamDestination(url: url), StreamTerms(dialect: .own, format: .standard), trace: Self.own)
            let call = try await answered(rig, alice, on: 1, tracing: Self.trace)
            _ = try await rig.switchboard.stream(.connect(order), in: call.id, by: name, expecting: nil)
            rig.programs.attempts[0].tell(.opened)
            await rig.wait { !rig.media.streams.isEmpty }
            rig.programs.attempts[0].tell(.lost(.transient, "gone"))
            await rig.settle()
            for _ in 0..<20 where rig.programs.attempts.count == 1 {
                rig.clock.advance(by: .milliseconds(500))
                await rig.settle()
            }
            let field = StreamDestination.Field(name: "traceparent", value: Redacted(Self.own.description))
            #expect(rig.programs.attempts.map(\.destination.fields) == [[field], [field]])
            rig.programs.attempts[1].tell(.opened)
            await rig.wait { !rig.media.streams.isEmpty }
            #expect(rig.media.streams.values.map(\.start.traceparent) == [Self.own.description])
            _ = try await perform(rig, .end(reasonText: nil), call.id)
            await rig.wait { rig.observer.counts.ended.count == 1 }
            #expect(traces(journal, of: call.call) == [Self.trace])
        }
    }

    @Test func `a call that several become has the trace of the command, if the command has one`() async throws {
        try await serveTraced { rig, journal in
            let first = try await answered(rig, alice, on: 1, tracing: Self.trace)
            let second = try await answered(rig, bob, on: 2, tracing: nil)
            let made = try await rig.switchboard.perform(
                .join([second.id]), in: first.id, by: name, expecting: nil, tracing: Self.own)
            #expect(made.trace == Self.own)
            let joined = try await look(rig, made.id) { $0.state == .talking && $0.members.count == 2 }
            #expect(joined.trace == Self.own)
            #expect(traces(journal, of: joined.call) == [Self.own])
            #expect(traces(journal, of: first.call) == [Self.trace])
        }
    }

    @Test func `a call without a trace has none`() async throws {
        try await serveTraced { rig, journal in
            let call = try await answered(rig, alice, on: 1, tracing: nil)
            let stream = try await rig.switchboard.open(
                StreamLink(), StreamTerms(dialect: .own, format: .standard), in: call.id, by: name)
            let start = try #require(rig.media.streams[stream]?.start)
            #expect(start.traceparent == nil)
            #expect(traces(journal, of: call.call) == [nil])
        }
    }

    @Test func `a call that several become has the trace of the one that was asked`() async throws {
        try await serveTraced { rig, journal in
            let first = try await answered(rig, alice, on: 1, tracing: Self.trace)
            let second = try await answered(rig, bob, on: 2, tracing: nil)
            let made = try await perform(rig, .join([second.id]), first.id)
            let joined = try await look(rig, made.id) { $0.state == .talking && $0.members.count == 2 }
            #expect(joined.trace == Self.trace)
            #expect(traces(journal, of: joined.call) == [Self.trace])
        }
    }
}
