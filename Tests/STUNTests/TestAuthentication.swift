import STUN
import TestSupport

struct TestAuthentication: MessageAuthentication {
    func hmacSHA1(key: [UInt8], _ message: Span<UInt8>) -> [UInt8] {
        SHA1.hmac(key: key, (0..<message.count).map { message[$0] })
    }
}
