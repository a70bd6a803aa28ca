import SRTP

extension SRTPSession.Profile {
    /// Its name in the registry of IANA (RFC 5764 §4.1.2, RFC 7714 §14.2), without the prefix.
    var name: String {
        switch self {
        case .aes128CMSHA1_80: "AES_CM_128_HMAC_SHA1_80"
        case .aeadAES128GCM: "AEAD_AES_128_GCM"
        }
    }
}

/// SRTP packets of one kind.
struct SRTPPacketKind {
    let profile: SRTPSession.Profile
    /// Bytes of the plain packet, with its header.
    let size: Int

    static let all = [SRTPSession.Profile.aes128CMSHA1_80, .aeadAES128GCM].flatMap { profile in
        [172, 1_200].map { SRTPPacketKind(profile: profile, size: $0) }
    }

    var name: String { "\(profile.name), \(size) bytes" }

    /// A session of these packets. Those with the same number have the same key.
    func session(_ direction: SRTPSession.Direction, key number: UInt8) throws -> SRTPSession {
        let size = profile == .aeadAES128GCM ? 28 : 30
        return try SRTPSession(
            profile: profile, key: [UInt8](repeating: number, count: size), direction: direction)
    }
}

/// SRTP of the legs that a worker relays between: each packet is unprotected as one leg's and protected for another
/// leg, and the next packet is one of other legs.
///
/// With one pair of sessions, their contexts stay in the processor's first cache; with hundreds they do not. All
/// inbound sessions have the same key, so that a packet that was protected once can be unprotected by each of them;
/// each keeps its own context, replay window and rollover counter.
struct SRTPRelays {
    /// What one direction of a call has of SRTP.
    private struct Relay {
        let inbound: SRTPSession
        let outbound: SRTPSession
    }

    /// How many packets each session takes before the sessions are made anew. The packets stay in the cache.
    private static let turns = 256
    /// The most pairs of sessions.
    static let maximumCount = 5_000
    private static let stride = 7_919

    let kind: SRTPPacketKind
    /// How many pairs of sessions there are.
    let count: Int

    /// Nanoseconds of CPU for a packet that is unprotected and protected.
    ///
    /// - Parameter packets: The least number of packets that are measured.
    func measure(packets: Int) throws -> Double {
        let sealed = try sealedPackets()
        var buffer = [UInt8](repeating: 0, count: 2_048)
        var (spent, done) = (Duration.zero, 0)
        while done < packets {
            let relays = try makeRelays()
            // The first packet of each session makes libsrtp's context of its source.
            try relay(sealed[0], over: relays, in: &buffer)
            let start = ThreadCPUClock.consumed
            for packet in sealed.dropFirst() where done < packets {
                try relay(packet, over: relays, in: &buffer)
                done += count
            }
            spent += ThreadCPUClock.consumed - start
        }
        return spent / .nanoseconds(1) / Double(done)
    }

    /// Relays the packet once over each pair of sessions.
    private func relay(_ packet: [UInt8], over relays: [Relay], in buffer: inout [UInt8]) throws {
        for relay in relays {
            unsafe packet.withUnsafeBytes { source in
                unsafe buffer.withUnsafeMutableBytes { room in unsafe room.copyMemory(from: source) }
            }
            var span = buffer.mutableSpan
            let plain = try relay.inbound.unprotect(&span, count: packet.count)
            _ = try relay.outbound.protect(&span, count: plain)
        }
    }

    /// The pairs in the order of their turns. It is not that in which they were made, which a processor foresees:
    /// `stride` is a prime number, and larger than any number of pairs.
    private func makeRelays() throws -> [Relay] {
        let made = try (0..<count).map { _ in
            Relay(inbound: try kind.session(.inbound, key: 7), outbound: try kind.session(.outbound, key: 8))
        }
        return made.indices.map { made[$0 * Self.stride % count] }
    }

    /// The packets of a peer, in the order of their sequence numbers.
    private func sealedPackets() throws -> [[UInt8]] {
        let peer = try kind.session(.outbound, key: 7)
        var packets: [[UInt8]] = []
        for sequence in 0...Self.turns {
            var packet = [UInt8](repeating: 0, count: kind.size + SRTPSession.Profile.maximumTrailer)
            packet[0] = 0x80
            packet[2] = UInt8(truncatingIfNeeded: sequence >> 8)
            packet[3] = UInt8(truncatingIfNeeded: sequence)
            var span = packet.mutableSpan
            let length = try peer.protect(&span, count: kind.size)
            packets.append(Array(packet[..<length]))
        }
        return packets
    }
}
