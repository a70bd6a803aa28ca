import Cryptography
import DTLS
import Primitives
import TestSupport
import Testing

/// Two transports in memory, with what happens to datagrams on a network.
@Suite struct HandshakeTests {
    private struct Pair {
        let client: DTLSTransport
        let server: DTLSTransport
        let certificates: (client: Certificate, server: Certificate)

        init() throws {
            certificates = (try Certificate(commonName: "client"), try Certificate(commonName: "server"))
            client = try DTLSTransport(context: DTLSContext(certificate: certificates.client), role: .client)
            server = try DTLSTransport(context: DTLSContext(certificate: certificates.server), role: .server)
            client.start()
        }

        /// Carries datagrams both ways until nobody has any; `pass` says what arrives for each one sent.
        func exchange(_ pass: ([UInt8]) -> [[UInt8]] = { [$0] }) {
            var moved = true
            while moved {
                moved = false
                for (from, to) in [(client, server), (server, client)] {
                    while let datagram = from.nextDatagram() {
                        moved = true
                        for arriving in pass(datagram) { to.receive(arriving.span) }
                    }
                }
            }
        }

        var isEstablished: Bool { client.state == .established && server.state == .established }
    }

    @Test func `both ends agree on keys, each other's certificates and the preferred profile`() throws {
        let pair = try Pair()
        pair.exchange()
        #expect(pair.isEstablished)
        let (client, server) = (try #require(pair.client.keyingMaterial), try #require(pair.server.keyingMaterial))
        #expect(client.profile == .aeadAES128GCM)
        #expect(client.local == server.remote)
        #expect(client.remote == server.local)
        #expect(client.local != client.remote)
        #expect(client.local.value.count == 28)
        #expect(pair.client.peerCertificateDigest(.sha256) == pair.certificates.server.fingerprint(.sha256))
        #expect(pair.server.peerCertificateDigest(.sha512) == pair.certificates.client.fingerprint(.sha512))
    }

    @Test func `every datagram doubled changes nothing`() throws {
        let pair = try Pair()
        pair.exchange { [$0, $0] }
        #expect(pair.isEstablished)
    }

    @Test func `a lost flight is sent again when its time is over`() async throws {
        let pair = try Pair()
        var isFirst = true
        pair.exchange { datagram in
            defer { isFirst = false }
            return isFirst ? [] : [datagram]
        }
        #expect(!pair.isEstablished)
        let timeout = try #require(pair.client.timeout)
        #expect(timeout <= .milliseconds(100))
        // OpenSSL reads the real clock.
        try await Task.sleep(for: timeout + .milliseconds(20))
        pair.client.handleTimeout()
        pair.exchange()
        #expect(pair.isEstablished)
        #expect(pair.client.timeout == nil)
    }

    @Test(arguments: 0..<4)
    func `whichever datagram is lost, both ends get there`(lost: Int) async throws {
        let pair = try Pair()
        var sent = 0
        pair.exchange { datagram in
            defer { sent += 1 }
            return sent == lost ? [] : [datagram]
        }
        // An end that has its keys has no timer: if the other one has not heard so, it repeats what it said, and is
        // answered.
        while let timeout = [pair.client.timeout, pair.server.timeout].compactMap(\.self).min(), timeout < .seconds(1) {
            try await Task.sleep(for: timeout + .milliseconds(20))
            pair.client.handleTimeout()
            pair.server.handleTimeout()
            pair.exchange()
        }
        #expect(pair.isEstablished)
        #expect(pair.client.keyingMaterial?.local == pair.server.keyingMaterial?.remote)
        #expect(sent > lost, "no such datagram was sent")
        pair.client.close()
        pair.exchange()
        #expect(pair.server.state == .closed)
    }

    @Test func `no datagram is larger than the MTU`() throws {
        let pair = try Pair()
        pair.exchange { datagram in
            #expect(datagram.count <= 1_200)
            return [datagram]
        }
    }

    @Test func `noise neither traps nor keeps a handshake from ending`() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed", seed)
        var random = SeededRandomSource(seed: seed)
        let pair = try Pair()
        for _ in 0..<200 {
            let count = Int(random.next() % 1_500)
            pair.server.receive(random.nextBytes(count).span)
            pair.server.receive(([20, 0xFE, 0xFD] + random.nextBytes(count)).span)
        }
        _ = pair.server.nextDatagram()
        pair.exchange()
        #expect(pair.isEstablished)
    }

    @Test(
        arguments: [
            [], [22], [UInt8](repeating: 22, count: 12),
            // Records of the first epoch that nobody can have sent in earnest: a change of ciphers, data, nonsense.
            [20, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 1],
            [23, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 8, 0, 3, 1, 2, 3],
            [20, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 7, 0, 3, 1, 2, 3],
            [22, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 7, 0, 3, 1, 2, 3],
        ] as [[UInt8]])
    func `a stray record does not keep a handshake from ending`(stray: [UInt8]) throws {
        let pair = try Pair()
        pair.server.receive(stray.span)
        pair.exchange()
        #expect(pair.isEstablished, "\(pair.server.state)")
    }

    /// A fragment in the clear of a message that comes in no handshake of ours.
    private static func forgedRecord(number: UInt64) -> [UInt8] {
        var writer = ByteWriter()
        writer.write([22, 0xFE, 0xFD, 0, 0])
        writer.write(UInt16(truncatingIfNeeded: number >> 32))
        writer.write(UInt32(truncatingIfNeeded: number))
        writer.write(UInt16(14))
        writer.write([11, 0, 0, 100, 0, 9, 0, 0, 0, 0, 0, 2, 0xCC, 0xCC])
        return writer.bytes
    }

    @Test(arguments: [[0xFFFF_FFFF_FFFF], [1_000], Array(0...80)] as [[UInt64]], [0, 1, 2])
    func `forged records in the clear do not shut out the peer's, whatever their numbers`(
        numbers: [UInt64], after passed: Int
    ) throws {
        let pair = try Pair()
        var count = 0
        pair.exchange { datagram in
            if count == passed {
                for forged in numbers.map(Self.forgedRecord) {
                    pair.server.receive(forged.span)
                    pair.client.receive(forged.span)
                }
            }
            count += 1
            return [datagram]
        }
        #expect(pair.isEstablished, "\(pair.client.state), \(pair.server.state)")
    }

    @Test func `a good-bye closes the other end`() throws {
        let pair = try Pair()
        pair.exchange()
        pair.client.close()
        pair.exchange()
        #expect(pair.client.state == .closed)
        #expect(pair.server.state == .closed)
    }
}
