import ArgumentParser
import Cryptography
import HandshakeBaseline
import Primitives

/// The server's side of DTLS handshakes as OpenSSL does them by itself, with a certificate like the gateway's.
@safe
final class BareHandshakes {
    private let baseline: OpaquePointer

    init() throws {
        let certificate = try Certificate(commonName: "bench")
        guard let baseline = unsafe handshake_baseline_open(certificate.certificatePEM, certificate.privateKeyPEM.value)
        else {
            throw ValidationError("OpenSSL refuses what the gateway is set to")
        }
        unsafe self.baseline = baseline
    }

    deinit { unsafe handshake_baseline_close(baseline) }

    /// CPU of the server for each of `count` handshakes, in nanoseconds.
    func nanosecondsEach(of count: Int) throws -> Double {
        let spent = unsafe handshake_baseline_run(baseline, Int32(count))
        guard spent >= 0 else { throw ValidationError("a bare handshake failed") }
        return Double(spent) / Double(count)
    }
}
