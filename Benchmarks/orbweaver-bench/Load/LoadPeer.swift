import Cryptography
import DTLS
import ICE
import Primitives
import SDP
import SRTP
import STUN

/// One scripted peer of many: full ICE in the controlling role, DTLS as the client, SRTP.
///
/// It decides and writes; `LoadPeers` sends, receives and keeps the time.
final class LoadPeer {
    private struct Authentication: MessageAuthentication {
        func hmacSHA1(key: [UInt8], _ message: Span<UInt8>) -> [UInt8] { HMAC.sha1(key: key, message) }
    }

    /// The audio that the peer sends in a loop.
    struct Voice {
        let codec: Codec
        /// 20 ms each.
        let payloads: [[UInt8]]
        /// Of its timestamps, per packet.
        var ticks: UInt32 { UInt32(codec.clockRate / 50) }
    }

    /// What a packet of the gateway's says about the way it took.
    enum Arrival {
        /// Relayed: sent at this time.
        case stamped(MonotonicTime)
        /// Made by the gateway.
        case made
    }

    /// RTP header and 20 ms of G.711.
    private static let stampedSize = headerSize + 160
    private static let headerSize = 12

    let number: UInt16
    private let voice: Voice?
    let credentials: ICECredentials
    let ssrc: UInt32
    private let context: DTLSContext
    private var gateway: ICECredentials?
    private var dtls: DTLSTransport?
    private var inbound: SRTPSession?
    private var outbound: SRTPSession?
    /// Of the next packet, without wrapping.
    private var sequence: UInt32 = 0
    private var random = SecureRandomSource()
    /// The datagrams of the handshake since the other side was last heard.
    private var flight: [[UInt8]] = []
    /// The peer's own address.
    let address: SocketAddress
    /// Where everything goes.
    var destination = SocketAddress(IPAddress(v4: 0x7F00_0001), port: 0)
    /// What its handshake has agreed on; `nil` before.
    private(set) var profile: SRTPSession.Profile?
    /// Packets of media that it has got.
    private(set) var received = 0
    /// Its call is over: it is silent.
    var isRetired = false

    /// - Parameter voice: `nil`: its packets hold the time instead of sound.
    init(number: UInt16, at address: SocketAddress, context: DTLSContext, voice: Voice?) {
        self.number = number
        self.address = address
        self.voice = voice
        self.context = context
        credentials = ICECredentials(
            ufrag: random.nextToken(8, alphabet: .ice), password: random.nextToken(24, alphabet: .ice))
        ssrc = 0x1000_0000 + UInt32(number)
    }

    var fingerprint: Fingerprint { Fingerprint(.sha256, digest: context.certificate.fingerprint(.sha256)) }
    var isConnected: Bool { outbound != nil }

    // MARK: Connecting

    /// What the gateway's description says.
    func learn(_ gateway: ICECredentials) { self.gateway = gateway }

    /// A check that nominates, and shows the gateway that its packets are still welcome (RFC 7675 §5.1).
    func check() -> [UInt8]? {
        guard let gateway else { return nil }
        let username = ICEUsername(receiver: gateway.ufrag, sender: credentials.ufrag).text
        let request = STUNMessage(
            .request, .binding, TransactionID(using: &random),
            [.username(username), .priority(1), .iceControlling(tieBreaker: .max), .useCandidate])
        return request.encoded(password: gateway.password.value, authentication: Authentication())
    }

    /// How long until the handshake wants to be woken.
    var retransmission: Duration? { dtls?.timeout }

    func handshakeTimedOut() { dtls?.handleTimeout() }

    func nextHandshakeDatagram() -> [UInt8]? {
        guard let datagram = dtls?.nextDatagram() else { return nil }
        flight.append(datagram)
        return datagram
    }

    /// What is sent again while the handshake lasts, as libwebrtc does after 50 ms; OpenSSL waits a second. A server
    /// that was not ready for a ClientHello would cost that second.
    var unansweredFlight: [[UInt8]] { isConnected ? [] : flight }

    /// Takes a packet that is no media.
    ///
    /// - Returns: what it is answered with at once; `nil`: nothing.
    func receive(_ packet: Span<UInt8>) throws -> [UInt8]? {
        switch packet[0] {
        case 0...3:
            let message = try STUNMessage(parsing: packet)
            if message.messageClass == .request { return answer(message) }
            if message.messageClass == .success, dtls == nil {
                dtls = try DTLSTransport(context: context, role: .client)
                dtls?.start()
            }
        case 20...63:
            flight = []
            dtls?.receive(packet)
            try installKeys()
        default: break
        }
        return nil
    }

    /// The answer to a check; servers that are no ICE lite make some.
    private func answer(_ check: STUNMessage) -> [UInt8] {
        STUNMessage(.success, .binding, check.transactionID, [.xorMappedAddress(destination)])
            .encoded(password: credentials.password.value, authentication: Authentication())
    }

    private func installKeys() throws {
        guard outbound == nil, let keys = dtls?.keyingMaterial else { return }
        let profile: SRTPSession.Profile = keys.profile == .aeadAES128GCM ? .aeadAES128GCM : .aes128CMSHA1_80
        inbound = try SRTPSession(profile: profile, key: keys.remote.value, direction: .inbound)
        outbound = try SRTPSession(profile: profile, key: keys.local.value, direction: .outbound)
        self.profile = profile
    }

    // MARK: Media

    /// Writes the next packet, protected. Returns its length.
    func writePacket(into slot: inout MutableSpan<UInt8>, at now: MonotonicTime) throws -> Int {
        guard let outbound else { preconditionFailure("a peer sends once it has keys") }
        slot[0] = 0x80
        slot[1] = voice?.codec.payloadType.rawValue ?? 0
        slot.write(UInt64(sequence), size: 2, at: 2)
        slot.write(UInt64(sequence &* (voice?.ticks ?? 160)), size: 4, at: 4)
        slot.write(UInt64(ssrc), size: 4, at: 8)
        var length = Self.stampedSize
        if let voice {
            let payload = voice.payloads[Int(sequence) % voice.payloads.count]
            for index in payload.indices { slot[Self.headerSize + index] = payload[index] }
            length = Self.headerSize + payload.count
        } else {
            slot.write(now.nanoseconds, size: 8, at: Self.headerSize)
        }
        sequence &+= 1
        return try outbound.protect(&slot, count: length)
    }

    /// `nil` if what is in the slot is no media.
    func readPacket(in slot: inout MutableSpan<UInt8>, count: Int) throws -> Arrival? {
        guard let inbound, 128...191 ~= slot[0], !(192...223 ~= slot[1]) else { return nil }
        let length = try inbound.unprotect(&slot, count: count)
        received += 1
        guard voice == nil else { return .made }
        guard length == Self.stampedSize else { return nil }
        return .stamped(MonotonicTime(nanoseconds: slot.read(size: 8, at: Self.headerSize)))
    }
}

extension MutableSpan<UInt8> {
    /// The lowest bytes of a number, in network order.
    fileprivate mutating func write(_ value: UInt64, size: Int, at offset: Int) {
        for index in 0..<size {
            self[offset + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * (size - 1 - index)))
        }
    }

    fileprivate func read(size: Int, at offset: Int) -> UInt64 {
        (0..<size).reduce(0) { $0 << 8 | UInt64(self[offset + $1]) }
    }
}
