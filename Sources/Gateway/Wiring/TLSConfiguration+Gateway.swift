import Cryptography
import NIOCore
import NIOSSL
import Primitives

/// What is wrong with the files of `tls.certificate` and `tls.key`.
struct TLSFilesError: Error, CustomStringConvertible {
    var description: String
}

extension TLSConfiguration {
    /// The configuration for a certificate and key in PEM files.
    ///
    /// - Throws: ``TLSFilesError`` if a file cannot be read, or the key does not belong to the first certificate.
    static func gateway(certificate: String, key: String) throws(TLSFilesError) -> TLSConfiguration {
        let chain: [NIOSSLCertificate]
        do {
            chain = try NIOSSLCertificate.fromPEMFile(certificate)
        } catch {
            throw TLSFilesError(
                description: "tls.certificate: \(certificate) cannot be read as a PEM certificate (\(error))")
        }
        let privateKey: NIOSSLPrivateKey
        do {
            privateKey = try NIOSSLPrivateKey(file: key, format: .pem)
        } catch {
            throw TLSFilesError(
                description: "tls.key: \(key) cannot be read as a PEM key without a passphrase (\(error))")
        }
        let configuration = gateway(chain, privateKey)
        do {
            _ = try NIOSSLContext(configuration: configuration)
        } catch {
            throw TLSFilesError(
                description: "tls.key: \(key) does not belong to the first certificate in \(certificate) (\(error))")
        }
        return configuration
    }

    /// The configuration for `--dev`, with a self-signed certificate for this machine's names and addresses.
    static func selfSigned(_ certificate: Certificate) throws -> TLSConfiguration {
        gateway(
            [try NIOSSLCertificate(bytes: Array(certificate.certificatePEM.utf8), format: .pem)],
            try NIOSSLPrivateKey(bytes: Array(certificate.privateKeyPEM.value.utf8), format: .pem))
    }

    /// The cipher suites of TLS 1.2: key exchange with forward secrecy (ECDHE) and authenticated encryption, as RFC
    /// 9325 §4.2 recommends. All suites of TLS 1.3 are of that kind, and are not chosen here.
    private static let modernCipherSuites: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]

    private static func gateway(_ chain: [NIOSSLCertificate], _ key: NIOSSLPrivateKey) -> TLSConfiguration {
        var configuration = makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.cipherSuiteValues = modernCipherSuites
        configuration.applicationProtocols = ["http/1.1"]
        // HTTP and WebSocket mark their own end, so nothing is lost if a peer does not send its close_notify.
        configuration.shutdownTimeout = .milliseconds(200)
        return configuration
    }
}
