package import Cryptography
package import DTLS
internal import ICE
package import Primitives
package import SDP
internal import SRTP
internal import STUN
internal import Sockets

/// A scripted WebRTC peer over a real loopback socket: full ICE in the controlling role, DTLS, SRTP. Whatever it does is
/// done inside `run`; it belongs to one thread.
package final class LoopbackPeer {
    private struct Authentication: MessageAuthentication {
        func hmacSHA1(key: [UInt8], _ message: Span<UInt8>) -> [UInt8] { HMAC.sha1(key: key, message) }
    }

    package let credentials: ICECredentials
    package let certificate: Certificate
    private let context: DTLSContext
    private let role: DTLSTransport.Role
    private let socket: UDPSocket
    private var pool: DatagramPool
    private var poller: Poller
    private var random = SecureRandomSource()
    private var gateway: (address: SocketAddress, credentials: ICECredentials)?
    private var isChecked = false
    private var nextCheck = MonotonicTime.zero
    private var dtls: DTLSTransport?
    private var inbound: SRTPSession?
    private var outbound: SRTPSession?

    /// Decrypted RTP and RTCP in the order of arrival.
    package private(set) var received: [[UInt8]] = []
    package private(set) var receivedControl: [[UInt8]] = []
    /// Looks without sleeping, so that whoever sends to this peer never pays for waking it. For benchmarks.
    package var isSpinning = false
    /// Packets that did not decrypt.
    package private(set) var failures = 0

    package init(role: DTLSTransport.Role) throws {
        var random = SecureRandomSource()
        credentials = ICECredentials(ufrag: random.nextToken(8, alphabet: .ice), password: random.nextToken(24, alphabet: .ice))
        certificate = try Certificate(commonName: "peer")
        context = try DTLSContext(certificate: certificate)
        self.role = role
        socket = try UDPSocket(bind: SocketAddress(IPAddress(v4: 0x7F00_0001), port: 0))
        pool = DatagramPool(sockets: [socket])
        poller = try Poller(wakeUp: WakeUp())
        try poller.add(socket, as: SocketIndex(0))
    }

    package var fingerprint: Fingerprint { Fingerprint(.sha256, digest: certificate.fingerprint(.sha256)) }
    package var localAddress: SocketAddress { socket.localAddress }
    package var isConnected: Bool { outbound != nil }
    package var profile: DTLSTransport.Profile? { dtls?.keyingMaterial?.profile }

    /// What the gateway's description says; checks begin with the next `run`.
    package func connect(to address: SocketAddress, _ credentials: ICECredentials) {
        gateway = (address, credentials)
    }

    /// Forgets what it received so far.
    package func clear() {
        received = []
        receivedControl = []
    }

    /// Protects and sends an RTP packet, or does nothing before the handshake is through.
    package func send(_ packet: [UInt8]) throws { try send(burst: [packet]) }

    /// Sends several packets with as few system calls as possible.
    package func send(burst packets: [[UInt8]]) throws {
        guard let outbound, let gateway else { return }
        for packet in packets {
            var buffer = packet + [UInt8](repeating: 0, count: SRTPSession.Profile.maximumTrailer)
            var span = buffer.mutableSpan
            let count = try outbound.protect(&span, count: packet.count)
            pool.queue(copying: buffer.span.extracting(0..<count), to: gateway.address, via: SocketIndex(0))
        }
        _ = pool.flush()
    }

    package func sendControl(_ packet: [UInt8]) throws {
        guard let outbound else { return }
        var buffer = packet + [UInt8](repeating: 0, count: SRTPSession.Profile.maximumTrailer)
        var span = buffer.mutableSpan
        let count = try outbound.protectControl(&span, count: packet.count)
        sendRaw(Array(buffer[..<count]))
    }

    /// Sends bytes as they are.
    package func sendRaw(_ bytes: [UInt8]) {
        guard let gateway else { return }
        pool.queue(copying: bytes.span, to: gateway.address, via: SocketIndex(0))
        _ = pool.flush()
    }

    /// Checks, shakes hands and receives until the condition holds or the time is over; returns whether it held.
    package func run(for duration: Duration, until condition: (LoopbackPeer) -> Bool = { _ in false }) throws -> Bool {
        let end = MonotonicClock.now + duration
        while true {
            if condition(self) { return true }
            let now = MonotonicClock.now
            guard now < end else { return false }
            if now >= nextCheck { sendCheck(at: now) }
            let retransmission = dtls?.timeout.map { now + $0 }
            if let retransmission, retransmission <= now { dtls?.handleTimeout() }
            sendHandshake()
            let wake = isSpinning ? now : [end, nextCheck, retransmission].compactMap(\.self).min()
            if try poller.wait(until: wake) > 0 { receive() }
        }
    }

    private func sendCheck(at now: MonotonicTime) {
        nextCheck = now + (isChecked ? .seconds(1) : .milliseconds(50))
        guard let gateway else { return }
        let username = ICEUsername(receiver: gateway.credentials.ufrag, sender: credentials.ufrag).text
        let check = STUNMessage(
            .request, .binding, TransactionID(using: &random),
            [.username(username), .priority(1), .iceControlling(tieBreaker: 7), .useCandidate])
        sendRaw(check.encoded(password: gateway.credentials.password.value, authentication: Authentication()))
    }

    private func receive() {
        for slot in 0..<pool.receive(from: SocketIndex(0)) {
            let bytes = [UInt8](copying: pool.datagram(slot))
            guard let first = bytes.first else { continue }
            switch first {
            case 0...3: checkAnswered(bytes)
            case 20...63:
                if dtls == nil { startHandshake() }
                dtls?.receive(bytes.span)
                installKeys()
            default: receiveMedia(bytes)
            }
        }
        sendHandshake()
    }

    private func checkAnswered(_ bytes: [UInt8]) {
        guard let message = try? STUNMessage(parsing: bytes.span), message.messageClass == .success else { return }
        isChecked = true
        if dtls == nil { startHandshake() }
    }

    private func startHandshake() {
        dtls = try? DTLSTransport(context: context, role: role)
        dtls?.start()
    }

    private func sendHandshake() {
        while let datagram = dtls?.nextDatagram() { sendRaw(datagram) }
        installKeys()
    }

    private func installKeys() {
        guard outbound == nil, let keys = dtls?.keyingMaterial else { return }
        let profile: SRTPSession.Profile = keys.profile == .aeadAES128GCM ? .aeadAES128GCM : .aes128CMSHA1_80
        inbound = try? SRTPSession(profile: profile, key: keys.remote.value, direction: .inbound)
        outbound = try? SRTPSession(profile: profile, key: keys.local.value, direction: .outbound)
    }

    private func receiveMedia(_ bytes: [UInt8]) {
        guard let inbound, bytes.count > 1 else { return }
        var buffer = bytes
        do {
            var span = buffer.mutableSpan
            if 192...223 ~= bytes[1] {
                let count = try inbound.unprotectControl(&span, count: bytes.count)
                receivedControl.append(Array(buffer[..<count]))
            } else {
                let count = try inbound.unprotect(&span, count: bytes.count)
                received.append(Array(buffer[..<count]))
            }
        } catch {
            failures += 1
        }
    }
}
