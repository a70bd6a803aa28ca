internal import Cryptography
internal import DTLS
internal import MediaPlane
internal import Primitives
internal import SDP
internal import SRTP
internal import STUN

/// The message authentication of STUN, by OpenSSL.
struct OpenSSLAuthentication: MessageAuthentication {
    func hmacSHA1(key: [UInt8], _ message: Span<UInt8>) -> [UInt8] { HMAC.sha1(key: key, message) }
}

extension DTLSTransport.Role {
    init(_ role: DTLSRole) {
        self =
            switch role {
            case .client: .client
            case .server: .server
            }
    }
}

extension SRTPSession.Profile {
    init(_ profile: DTLSTransport.Profile) {
        self =
            switch profile {
            case .aes128CMSHA1_80: .aes128CMSHA1_80
            case .aeadAES128GCM: .aeadAES128GCM
            }
    }
}

extension Digest {
    init(_ algorithm: Fingerprint.Algorithm) {
        self =
            switch algorithm {
            case .sha224: .sha224
            case .sha256: .sha256
            case .sha384: .sha384
            case .sha512: .sha512
            }
    }
}

extension DTLSTransport {
    /// The handshake messages that can come next.
    var expectation: HandshakeRecord.Expectation {
        switch role {
        case .client: .serverFlight
        case .server: hasSpoken ? .clientFlight : .clientHello
        }
    }
}
