import Primitives
import SDP
import STUN
import TestSupport

/// Connectivity checks, good and forged.
enum Checks {
    struct Authentication: MessageAuthentication {
        func hmacSHA1(key: [UInt8], _ message: Span<UInt8>) -> [UInt8] {
            SHA1.hmac(key: key, [UInt8](copying: message))
        }
    }

    /// Parameters that no session of the gateway has.
    static let nobody = ICECredentials(ufrag: "nobody00", password: "no password of this gateway")

    /// What a peer that knows the description sends.
    static func valid(for gateway: ICECredentials, by sender: String, transaction: UInt64 = 1) -> [UInt8] {
        message(for: gateway.ufrag, by: sender, transaction).encoded(
            password: gateway.password.value, authentication: Authentication())
    }

    /// MESSAGE-INTEGRITY with another password.
    static func withWrongPassword(for gateway: ICECredentials, by sender: String, transaction: UInt64 = 2) -> [UInt8] {
        message(for: gateway.ufrag, by: sender, transaction).encoded(
            password: "a guess of 22 characters", authentication: Authentication())
    }

    /// No MESSAGE-INTEGRITY at all.
    static func withoutIntegrity(for gateway: ICECredentials, by sender: String, transaction: UInt64 = 3) -> [UInt8] {
        message(for: gateway.ufrag, by: sender, transaction).encoded(fingerprint: true)
    }

    private static func message(for receiver: String, by sender: String, _ transaction: UInt64) -> STUNMessage {
        STUNMessage(
            .request, .binding, TransactionID(high: 5, low: transaction),
            [.username("\(receiver):\(sender)"), .priority(1), .iceControlling(tieBreaker: 9), .useCandidate])
    }
}
