import CallControl
import CallRuntime
import Dispatch
import Logging
import MediaServer
import Observability
import Primitives
import SDP
import Synchronization
import Testing

/// A worker that does not get to its commands.
@Suite(.serialized)
struct WorkerOverloadTests {
    /// More than a worker keeps.
    private static let many = 70_000
    private static let call = CallID(42)

    /// A media server whose worker stands still while it tells of the end of playback 1.
    private final class HeldServer: Sendable {
        let server: MediaServer
        let metrics = GatewayMetrics(version: "test", startTime: 0)
        let events = RecordedEvents()
        private let isHeld = DispatchSemaphore(value: 0)
        private let mayGoOn = DispatchSemaphore(value: 0)

        init() throws {
            server = try MediaServer(
                configuration: .init(bind: [IPAddress(v4: 0x7F00_0001)], firstPort: 0), metrics: metrics,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
                events: { [events, isHeld, mayGoOn] _, event in
                    events.append(event)
                    guard event == .playbackEnded(1, .caller) else { return }
                    isHeld.signal()
                    mayGoOn.wait()
                })
            server.send(
                .prepare(.caller, ICECredentials(ufrag: "gate", password: "password of the gateway")), for: call)
            // There is no such file: it ends at once.
            server.send(.play(Playback(.file("none")), number: 1, to: .caller), for: call)
            isHeld.wait()
        }

        func goOn() { mayGoOn.signal() }
    }

    @Test func `what begins something is refused, what ends something is not`() async throws {
        let held = try HeldServer()
        let server = held.server
        for _ in 0..<Self.many { server.send(.route(.caller, .mix), for: Self.call) }
        #expect(held.metrics.mediaCommandsRefused.value == UInt64(Self.many - 65_536))
        #expect(held.events.contains(.failed(.caller, .overloaded)))

        // Whoever asks for something learns that it does not come.
        #expect(throws: MediaUnavailable.full) { try server.reserve(CallID(7), isNew: true) }
        #expect(await server.statistics(of: Self.call) == nil)
        server.send(.play(Playback(.music), number: 2, to: .caller), for: Self.call)
        #expect(held.events.contains(.playbackEnded(2, .caller)))
        server.send(.adopt(.callee, from: Self.call, as: .caller), for: CallID(8))
        #expect(held.events.contains(.failed(.caller, .overloaded)))
        server.send(.sendDigits(try #require(DigitSequence("123")), to: .caller), for: Self.call)
        #expect(held.metrics.mediaDigitsDropped.value == 3)

        // These are carried out when the worker goes on.
        for _ in 0..<1_000 { server.send(.stopPlaying(to: .caller), for: Self.call) }
        server.send(.release, for: Self.call)
        held.goOn()
        // A question that the worker has no room for is answered like one about a call that is gone.
        while held.metrics.mediaSessionsActive.value != 0 || (try? server.reserve(CallID(7), isNew: true)) == nil {
            await Task.yield()
        }
        #expect(await server.statistics(of: Self.call) == nil)
        server.stop()
    }

    @Test func `a worker that is far behind takes no new call, and goes on with those it has`() throws {
        let held = try HeldServer()
        for _ in 0..<40_000 { held.server.send(.route(.caller, .mix), for: Self.call) }
        #expect(throws: MediaUnavailable.full) { try held.server.reserve(CallID(7), isNew: true) }
        #expect(held.metrics.mediaCommandsRefused.value == 0)
        held.goOn()
        held.server.stop()
    }
}
