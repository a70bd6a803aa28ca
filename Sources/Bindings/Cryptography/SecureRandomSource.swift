internal import COpenSSL
import Primitives

/// The random generator of OpenSSL, seeded by the kernel.
package struct SecureRandomSource: RandomSource {
    /// Makes a source; all sources share the state of OpenSSL's generator.
    package init() {}

    /// 64 random bits; it traps if OpenSSL has no randomness.
    package mutating func next() -> UInt64 {
        var bytes = [UInt8](repeating: 0, count: 8)
        let succeeded = unsafe RAND_bytes(&bytes, Int32(bytes.count))
        precondition(succeeded == 1, "without randomness no key or token can be made")
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
