import CallControl
import CallRuntime
import Dispatch
import Logging
import MediaServer
import Observability
import Primitives
import SDP
import Sockets
import Testing

/// A worker that has much to do takes no new calls.
@Suite(.serialized)
struct `Admission by load` {
    private static let host = IPAddress(v4: 0x7F00_0001)

    private func server(
        _ metrics: GatewayMetrics, maximumLoad: Int?,
        _ events: @escaping @Sendable (CallID, MediaEvent) -> Void = { _, _ in }
    ) throws -> MediaServer {
        var configuration = MediaServer.Configuration(bind: [Self.host], firstPort: 0)
        configuration.maximumLoad = maximumLoad
        return try MediaServer(
            configuration: configuration, metrics: metrics,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, events: events)
    }

    /// Sends datagrams of no known kind to the server's socket.
    private func flood(_ server: MediaServer, _ count: Int) throws {
        var pool = DatagramPool(sockets: [try UDPSocket(bind: SocketAddress(Self.host, port: 0))])
        let datagram = [UInt8](repeating: 255, count: 1_200)
        for _ in 0..<count {
            pool.queue(copying: datagram.span, to: server.localAddresses[0], via: SocketIndex(0))
        }
        _ = pool.flush()
    }

    private func wait(until isDone: () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while !isDone(), ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(20)) }
        #expect(isDone())
    }

    @Test func `new calls are refused while a worker is busy, further legs are not`() async throws {
        let metrics = GatewayMetrics(version: "test", startTime: 0)
        let server = try server(metrics, maximumLoad: 1)
        defer { server.stop() }
        _ = try server.reserve(CallID(1), isNew: true)
        #expect(metrics.mediaRoom.value == 100)

        let end = ContinuousClock.now + .seconds(60)
        while metrics.mediaRoom.value > 0, ContinuousClock.now < end { try flood(server, 2_000) }
        #expect(throws: MediaUnavailable.full) { try server.reserve(CallID(2), isNew: true) }
        _ = try server.reserve(CallID(1), isNew: false)

        try await wait { metrics.mediaRoom.value == 100 }
        _ = try server.reserve(CallID(2), isNew: true)
    }

    @Test func `without a limit the number of calls alone counts`() async throws {
        let metrics = GatewayMetrics(version: "test", startTime: 0)
        let server = try server(metrics, maximumLoad: nil)
        defer { server.stop() }
        let end = ContinuousClock.now + .seconds(60)
        while metrics.mediaRoom.value == 100, ContinuousClock.now < end { try flood(server, 2_000) }
        _ = try server.reserve(CallID(2), isNew: true)
    }

    @Test func `what the kernel drops is counted, and its worker is full`() async throws {
        let metrics = GatewayMetrics(version: "test", startTime: 0)
        let (isHeld, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let server = try server(metrics, maximumLoad: 100) { _, event in
            guard event == .playbackEnded(1, .caller) else { return }
            isHeld.signal()
            mayGoOn.wait()
        }
        defer { server.stop() }
        let call = CallID(42)
        server.send(.prepare(.caller, ICECredentials(ufrag: "gate", password: "password of the gateway")), for: call)
        // There is no such file: it ends at once, and its worker stands still.
        server.send(.play(Playback(.file("none")), number: 1, to: .caller), for: call)
        isHeld.wait()
        try flood(server, 20_000)
        // The worker measures itself once a second.
        try await Task.sleep(for: .seconds(1))
        mayGoOn.signal()
        try await wait { metrics.packetsDropped[.fullSocket].value > 0 }
        #expect(metrics.packetsDropped[.fullSocket].value < 20_000)
        #expect(throws: MediaUnavailable.full) { try server.reserve(CallID(7), isNew: true) }
        try await wait { metrics.mediaRoom.value > 0 }
        _ = try server.reserve(CallID(7), isNew: true)
    }
}
