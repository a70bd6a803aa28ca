import CallControl
import CallRuntime
import DTLS
import Logging
import MediaServer
import Observability
import PeerSupport
import Primitives
import SDP
import Sockets
import Testing

/// A media server with one worker on loopback and two peers; each peer's description is what `NegotiatedLeg` says.
struct Rig {
    static let callerSSRC = SSRC(0x1111_1111)
    static let calleeSSRC = SSRC(0x2222_2222)

    let server: MediaServer
    let metrics = GatewayMetrics(version: "test", startTime: 0)
    let events = RecordedEvents()
    let call = CallID(42)
    let caller: LoopbackPeer
    let callee: LoopbackPeer
    /// Where the gateway takes datagrams, and where connections.
    let gateway: SocketAddress
    let listener: SocketAddress
    private let callerGateway: SocketAddress
    var announcedCallerFingerprint: Fingerprint?
    private let callerRole: DTLSTransport.Role
    private let calleeRole: DTLSTransport.Role
    let callerLocal = ICECredentials(ufrag: "gatewayA", password: "password of the gateway A")
    private var sequence: UInt16 = 1_000
    /// What the peers have agreed on.
    private let callerCodecs: [Codec]
    private let calleeCodecs: [Codec]
    private let calleeLocal = ICECredentials(ufrag: "gatewayB", password: "password of the gateway B")

    /// - Parameters:
    ///   - transport: what the caller comes over; the callee comes over UDP.
    ///   - host: a loopback address for everybody.
    ///   - firstCheckTimeout: how long a connection may stay silent.
    ///   - consentTimeout: longer than any machine stands still, unless a test is about consent that expires.
    init(
        callerRole: DTLSTransport.Role = .client, calleeRole: DTLSTransport.Role = .client,
        callerOver transport: PeerLink.Transport = .udp,
        on host: IPAddress = IPAddress(v4: 0x7F00_0001), callerCodecs: [Codec] = [.pcmu],
        calleeCodecs: [Codec] = [.pcmu],
        firstCheckTimeout: Duration = .seconds(60), consentTimeout: Duration = .seconds(3_600)
    ) throws {
        (self.callerCodecs, self.calleeCodecs) = (callerCodecs, calleeCodecs)
        server = try MediaServer(
            configuration: MediaServer.Configuration(
                bind: [host], firstPort: 0, tcpPort: 0, consentTimeout: consentTimeout,
                firstCheckTimeout: firstCheckTimeout),
            metrics: metrics, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            events: { [events] _, event in events.append(event) })
        gateway = server.localAddresses[0]
        listener = server.listenerAddresses[0]
        self.callerRole = callerRole
        self.calleeRole = calleeRole
        caller = try LoopbackPeer(role: callerRole, over: transport, on: host)
        callee = try LoopbackPeer(role: calleeRole, on: host)
        callerGateway = transport == .udp ? gateway : listener
    }

    /// Hands both descriptions over.
    mutating func connect() throws {
        try prepare()
        describe()
    }

    /// The gateway's descriptions are out, and the peers may begin; theirs are not known yet.
    func prepare() throws {
        _ = try server.reserve(call, isNew: true)
        server.send(.prepare(.caller, callerLocal), for: call)
        server.send(.prepare(.callee, calleeLocal), for: call)
        server.send(.route(.caller, .leg(.callee)), for: call)
        server.send(.route(.callee, .leg(.caller)), for: call)
        caller.connect(to: callerGateway, callerLocal)
        callee.connect(to: gateway, calleeLocal)
    }

    /// The peers' descriptions come.
    func describe() {
        describeCaller()
        server.send(
            .connect(.callee, leg(calleeLocal, callee, callee.fingerprint, calleeRole, Self.calleeSSRC, calleeCodecs)),
            for: call)
    }

    func describeCaller() {
        let callerFingerprint = announcedCallerFingerprint ?? caller.fingerprint
        server.send(
            .connect(.caller, leg(callerLocal, caller, callerFingerprint, callerRole, Self.callerSSRC, callerCodecs)),
            for: call)
    }

    /// Sends one packet each way and waits for both: the call is undisturbed.
    mutating func expectMedia(_ sourceLocation: SourceLocation = #_sourceLocation) throws {
        caller.clear()
        callee.clear()
        sequence &+= 1
        try caller.send(Self.packet(sequence: sequence, timestamp: UInt32(sequence) * 960, ssrc: 0xAAAA))
        try callee.send(Self.packet(sequence: sequence, timestamp: UInt32(sequence) * 960, ssrc: 0xBBBB))
        #expect(
            try callee.run(for: .seconds(60)) { !$0.received.isEmpty }, "the callee hears the caller",
            sourceLocation: sourceLocation)
        #expect(
            try caller.run(for: .seconds(60)) { !$0.received.isEmpty }, "the caller hears the callee",
            sourceLocation: sourceLocation)
    }

    /// Lets the peers go on until the condition holds, at most for a minute.
    func wait(until condition: () -> Bool) throws -> Bool {
        for _ in 0..<3_000 where !condition() {
            _ = try caller.run(for: .milliseconds(10))
            _ = try callee.run(for: .milliseconds(10))
        }
        return condition()
    }

    /// The caller's re-offer with other ICE parameters, answered with others of the gateway.
    func restartCaller() throws {
        let renewed = ICECredentials(ufrag: "gatewayC", password: "password of the gateway C")
        caller.restart(renewed)
        server.send(
            .connect(.caller, leg(renewed, caller, caller.fingerprint, callerRole, Self.callerSSRC, callerCodecs)),
            for: call)
    }

    /// Goes on until both peers have keys.
    mutating func establish() throws {
        try connect()
        for _ in 0..<1_200 where !(caller.isConnected && callee.isConnected) {
            _ = try caller.run(for: .milliseconds(25)) { $0.isConnected }
            _ = try callee.run(for: .milliseconds(25)) { $0.isConnected }
        }
        // The gateway may finish a little later than the peer.
        for _ in 0..<3_000 where !(events.contains(.pathSecured(.caller)) && events.contains(.pathSecured(.callee))) {
            _ = try caller.run(for: .milliseconds(10))
            _ = try callee.run(for: .milliseconds(10))
        }
    }

    func leg(
        _ local: ICECredentials, _ peer: LoopbackPeer, _ fingerprint: Fingerprint, _ peerRole: DTLSTransport.Role,
        _ ssrc: SSRC,
        _ codecs: [Codec] = [.pcmu]
    ) -> NegotiatedLeg {
        return NegotiatedLeg(
            transport: NegotiatedTransport(
                local: local, remote: peer.credentials, remoteFingerprints: [fingerprint],
                role: peerRole == .client ? .server : .client),
            media: [
                NegotiatedMedia(
                    mid: "0", kind: .audio, direction: .sendReceive, isRejected: false, codecs: codecs, extensions: [],
                    remoteSources: [],
                    localSSRC: ssrc, localRetransmissionSSRC: nil)
            ])
    }

    static func packet(sequence: UInt16, timestamp: UInt32, ssrc: UInt32, payload: Int = 160) -> [UInt8] {
        packet(0, sequence: sequence, timestamp: timestamp, ssrc: ssrc, [UInt8](repeating: 0x55, count: payload))
    }

    static func packet(_ payloadType: UInt8, sequence: UInt16, timestamp: UInt32, ssrc: UInt32, _ payload: [UInt8])
        -> [UInt8]
    {
        var writer = ByteWriter()
        writer.write(UInt8(0x80))
        writer.write(payloadType)
        writer.write(sequence)
        writer.write(timestamp)
        writer.write(ssrc)
        writer.write(payload)
        return writer.bytes
    }

    static func header(of packet: [UInt8]) -> (sequence: UInt16, timestamp: UInt32, ssrc: SSRC) {
        var reader = ByteReader(packet.span)
        _ = reader.skip(2)
        return (reader.readUInt16() ?? 0, reader.readUInt32() ?? 0, SSRC(reader.readUInt32() ?? 0))
    }
}

/// What the media server told, in order.
final class RecordedEvents: Sendable {
    private let events = Lock<[MediaEvent]>([])

    func append(_ event: MediaEvent) { events.withLock { $0.append(event) } }
    func contains(_ event: MediaEvent) -> Bool { events.withLock { $0.contains(event) } }

    /// The lists that a leg had played, and that are over, in order.
    func played(by leg: LegID) -> [PlayedList] {
        events.withLock { events in
            events.compactMap { if case .played(let list, leg) = $0 { list } else { nil } }
        }
    }

    /// The keys that a leg's peer has pressed, in order.
    func keys(by leg: LegID) -> String {
        events.withLock { events in
            events.map { if case .keyPressed(let key, _, leg) = $0 { key.rawValue } else { "" } }.joined()
        }
    }
}
