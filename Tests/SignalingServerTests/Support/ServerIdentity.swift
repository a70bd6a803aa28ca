import Cryptography
import NIOSSL
import Primitives

/// What a server and its clients need for TLS.
enum ServerIdentity {
    /// A certificate made for this test, and a client that trusts whatever it is shown.
    static func tls() throws -> (server: TLSConfiguration, client: NIOSSLContext) {
        let certificate = try Certificate(commonName: "localhost")
        let server = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(certificate.certificatePEM.utf8)).map {
                .certificate($0)
            },
            privateKey: .privateKey(
                try NIOSSLPrivateKey(bytes: Array(certificate.privateKeyPEM.value.utf8), format: .pem)))
        var client = TLSConfiguration.makeClientConfiguration()
        client.certificateVerification = .none
        return (server, try NIOSSLContext(configuration: client))
    }
}
