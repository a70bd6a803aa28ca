import TestSupport
import Testing

/// The digest that the other tests rely on.
@Suite struct DigestTests {
    /// RFC 3174 §7.3, and lengths around the block boundary.
    @Test(arguments: [
        ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
        ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "84983e441c3bd26ebaae4aa1f95129e5e54670f1"),
        (
            String(repeating: "0123456701234567012345670123456701234567012345670123456701234567", count: 10),
            "dea356a2cddd90c7a7ecedc5ebb563934f460452"
        ),
    ])
    func `SHA-1 gives the published digests`(_ text: String, _ digest: String) {
        #expect(hex(SHA1.digest(Array(text.utf8))) == digest)
    }

    /// RFC 2202 §3, cases 1, 2 and 6.
    @Test(arguments: [
        ([UInt8](repeating: 0x0B, count: 20), "Hi There", "b617318655057264e28bc0b6fb378c8ef146be00"),
        (Array("Jefe".utf8), "what do ya want for nothing?", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
        (
            [UInt8](repeating: 0xAA, count: 80), "Test Using Larger Than Block-Size Key - Hash Key First",
            "aa4ae5e15272d00e95705637ce8a3b55ed402112"
        ),
    ])
    func `HMAC-SHA1 gives the published tags`(_ key: [UInt8], _ text: String, _ tag: String) {
        #expect(hex(SHA1.hmac(key: key, Array(text.utf8))) == tag)
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
