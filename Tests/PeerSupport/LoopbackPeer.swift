package import Cryptography
package import DTLS
internal import ICE
package import Primitives
package import SDP
internal import SRTP
internal import STUN
internal import Sockets

/// A scripted WebRTC peer over a real loopback socket: full ICE in the controlling role, DTLS, SRTP. Whatever it does
/// is done inside `run`; it belongs to one thread.
package final class LoopbackPeer {
    private struct Authentication: MessageAuthentication {
        func hmacSHA1(key: [UInt8], _ message: Span<UInt8>) -> [UInt8] { HMAC.sha1(key: key, message) }
    }

    package private(set) var credentials: ICECredentials
    package let certificate: Certificate
    private let context: DTLSContext
    private let role: DTLSTransport.Role
    private var link: PeerLink
    private let transport: PeerLink.Transport
    private let host: IPAddress
    private var random = SecureRandomSource()
    private var gateway: (address: SocketAddress, credentials: ICECredentials)?
    private var isChecked = false
    private var nextCheck = MonotonicTime.zero
    /// Of its own checks; it minds no others' answers.
    private var transactions: Set<TransactionID> = []
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
    /// Whether it sends checks, and which of them nominate.
    package var checks = true
    package var nominates = true
    /// Checks that the gateway answered with success.
    package private(set) var answeredChecks = 0
    /// Whether it sends a flight of its handshake again that is not answered.
    package var repeatsFlights = true

    /// - Parameter host: a loopback address of the gateway's family.
    package init(
        role: DTLSTransport.Role, over transport: PeerLink.Transport = .udp,
        on host: IPAddress = IPAddress(v4: 0x7F00_0001)
    ) throws {
        var random = SecureRandomSource()
        credentials = ICECredentials(
            ufrag: random.nextToken(8, alphabet: .ice), password: random.nextToken(24, alphabet: .ice))
        certificate = try Certificate(commonName: "peer")
        context = try DTLSContext(certificate: certificate)
        self.role = role
        self.transport = transport
        self.host = host
        link = try PeerLink(transport, on: host)
    }

    package var fingerprint: Fingerprint { Fingerprint(.sha256, digest: certificate.fingerprint(.sha256)) }
    package var localAddress: SocketAddress { link.localAddress }
    package var isConnected: Bool { outbound != nil }
    /// Whether it has sent a ClientHello, or as server waits for one.
    package var hasStartedHandshake: Bool { dtls != nil }
    package var profile: DTLSTransport.Profile? { dtls?.keyingMaterial?.profile }

    /// What the gateway's description says; checks begin with the next `run`.
    package func connect(to address: SocketAddress, _ credentials: ICECredentials) {
        gateway = (address, credentials)
    }

    /// Goes on from another port or connection, as after a change of network; keys stay.
    package func move() throws {
        link.close()
        link = try PeerLink(transport, on: host)
        nextCheck = .zero
    }

    /// New parameters of both sides (RFC 8445 §9); from the next check on they count.
    package func restart(_ gatewayCredentials: ICECredentials) {
        credentials = ICECredentials(
            ufrag: random.nextToken(8, alphabet: .ice), password: random.nextToken(24, alphabet: .ice))
        if let gateway { self.gateway = (gateway.address, gatewayCredentials) }
        nextCheck = .zero
    }

    /// Closes the connection, over TCP; the next check opens another.
    package func disconnect() throws { try move() }

    package var isDisconnected: Bool { link.isClosed }

    /// Forgets what it received so far.
    package func clear() {
        received = []
        receivedControl = []
    }

    /// Protects and sends an RTP packet, or does nothing before the handshake is through.
    package func send(_ packet: [UInt8]) throws { try send(burst: [packet]) }

    /// Sends several packets with as few system calls as possible.
    package func send(burst packets: [[UInt8]]) throws {
        guard let gateway else { return }
        for packet in packets {
            if let protected = try protect(packet) { link.queue(protected.span, to: gateway.address) }
        }
        link.flush()
    }

    /// What `send` would send, for whoever wants to send it in another way, or twice; `nil` before the handshake is
    /// through.
    package func protect(_ packet: [UInt8]) throws -> [UInt8]? {
        guard let outbound else { return nil }
        var buffer = packet + [UInt8](repeating: 0, count: SRTPSession.Profile.maximumTrailer)
        var span = buffer.mutableSpan
        let count = try outbound.protect(&span, count: packet.count)
        return Array(buffer[..<count])
    }

    /// Forgets which SSRCs it has sent as, of which libsrtp2 keeps every one.
    package func forgetSources() {
        outbound = nil
        installKeys()
    }

    package func sendControl(_ packet: [UInt8]) throws {
        guard let outbound else { return }
        var buffer = packet + [UInt8](repeating: 0, count: SRTPSession.Profile.maximumTrailer)
        var span = buffer.mutableSpan
        let count = try outbound.protectControl(&span, count: packet.count)
        sendRaw(Array(buffer[..<count]))
    }

    /// Sends bytes as they are, in a datagram or a frame.
    package func sendRaw(_ bytes: [UInt8]) {
        guard let gateway else { return }
        link.queue(bytes.span, to: gateway.address)
        link.flush()
    }

    /// Puts bytes into the stream as they are; over TCP only.
    package func sendRawUnframed(_ bytes: [UInt8]) { link.sendUnframed(bytes) }

    /// Checks, shakes hands and receives until the condition holds or the time is over; returns whether it held.
    ///
    /// A machine may stand still for minutes. Only the time that this process has seen pass counts.
    package func run(for duration: Duration, until condition: (LoopbackPeer) -> Bool = { _ in false }) throws -> Bool {
        var allowance = WaitAllowance(duration)
        while true {
            if condition(self) { return true }
            let now = MonotonicClock.now
            guard let end = allowance.end(at: now) else { return false }
            if checks, now >= nextCheck { try sendCheck(at: now) }
            let retransmission = repeatsFlights ? dtls?.timeout.map { now + $0 } : nil
            if let retransmission, retransmission <= now { dtls?.handleTimeout() }
            sendHandshake()
            let wake = isSpinning ? now : [end, checks ? nextCheck : nil, retransmission].compactMap(\.self).min()
            try link.receive(until: wake) { take($0) }
            sendHandshake()
        }
    }

    private func sendCheck(at now: MonotonicTime) throws {
        nextCheck = now + (isChecked ? .seconds(1) : .milliseconds(50))
        guard let gateway else { return }
        try link.open(to: gateway.address)
        let username = ICEUsername(receiver: gateway.credentials.ufrag, sender: credentials.ufrag).text
        let transaction = TransactionID(using: &random)
        transactions.insert(transaction)
        let check = STUNMessage(
            .request, .binding, transaction,
            [.username(username), .priority(1), .iceControlling(tieBreaker: 7)] + (nominates ? [.useCandidate] : []))
        sendRaw(check.encoded(password: gateway.credentials.password.value, authentication: Authentication()))
    }

    private func take(_ bytes: [UInt8]) {
        guard let first = bytes.first else { return }
        switch first {
        case 0...3: checkAnswered(bytes)
        case 20...63:
            if dtls == nil { startHandshake() }
            dtls?.receive(bytes.span)
            installKeys()
        default: receiveMedia(bytes)
        }
    }

    private func checkAnswered(_ bytes: [UInt8]) {
        guard let message = try? STUNMessage(parsing: bytes.span), message.messageClass == .success else { return }
        guard transactions.remove(message.transactionID) != nil else { return }
        isChecked = true
        answeredChecks += 1
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
