import Cryptography
import Testing

@Suite struct DigestTests {
    /// FIPS 180-4 examples: "abc".
    @Test(arguments: [
        (Digest.sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (.sha224, "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
        (.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ])
    func `digests of abc`(_ digest: Digest, _ expected: String) {
        #expect(hex(digest.hash(Array("abc".utf8))) == expected)
    }

    /// RFC 2202 §3, cases 1 to 3 and 6; RFC 4231 §4.2, §4.7.
    @Test func `HMAC vectors`() {
        #expect(
            hex(HMAC.sha1(key: [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8).span))
                == "b617318655057264e28bc0b6fb378c8ef146be00")
        #expect(
            hex(HMAC.sha1(key: Array("Jefe".utf8), Array("what do ya want for nothing?".utf8).span))
                == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79")
        #expect(
            hex(HMAC.sha1(key: [UInt8](repeating: 0xAA, count: 20), [UInt8](repeating: 0xDD, count: 50).span))
                == "125d7342b9ac11cd91a39af48aa17b4f63f175d3")
        #expect(
            hex(HMAC.sha256(key: [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8).span))
                == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
        // Keys that are longer than a block.
        let text = Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8)
        #expect(
            hex(HMAC.sha1(key: [UInt8](repeating: 0xAA, count: 80), text.span))
                == "aa4ae5e15272d00e95705637ce8a3b55ed402112")
        #expect(
            hex(HMAC.sha256(key: [UInt8](repeating: 0xAA, count: 131), text.span))
                == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    }

    @Test func `an HMAC of nothing with no key has its own value`() {
        let nothing: [UInt8] = []
        #expect(hex(HMAC.sha1(key: [], nothing.span)) == "fbdb1d1b18aa6c08324b7d64b71fb76370690e1d")
        #expect(
            hex(HMAC.sha256(key: [], nothing.span))
                == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
    }

    @Test func `threads share the functions`() async {
        let expected = HMAC.sha256(key: [1, 2, 3], [4, 5].span)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<200).allSatisfy { _ in HMAC.sha256(key: [1, 2, 3], [4, 5].span) == expected }
                }
            }
            for await isSame in group { #expect(isSame) }
        }
    }

    @Test func `secrets of different length or content are not equal`() {
        #expect(constantTimeEqual([1, 2, 3], [1, 2, 3]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2, 4]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2]))
    }
}

func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
