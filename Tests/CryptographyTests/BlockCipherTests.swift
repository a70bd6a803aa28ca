import Cryptography
import Testing

/// Vectors made with `openssl enc -K … -iv …`; the first blocks of the last two are those of NIST SP 800-38A F.1.1 and
/// F.2.5.
@Suite struct BlockCipherTests {
    private static let plaintext = "alice@example.com;1700000000000"
    private static let nistBlock = "6bc1bee22e409f96e93d7e117393172a"
    private static let longKey = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"

    @Test(arguments: [
        (
            BlockCipher.aes128ECB, "000102030405060708090a0b0c0d0e0f", "",
            "b2916af5a2e7de7a238cf49ca98718b850a45ce174393ed32fc5dea221aa4cb1",
            hex(Array(plaintext.utf8))
        ),
        (
            .aes256CBC, longKey, "101112131415161718191a1b1c1d1e1f",
            "93b8160767ae206bae2692a6d945725ea7e7c6b274b602c068a2e9e1d6f19e81",
            hex(Array(plaintext.utf8))
        ),
        (
            .aes128ECB, "2b7e151628aed2a6abf7158809cf4f3c", "",
            "3ad77bb40d7a3660a89ecaf32466ef97a254be88e037ddd9d79fb6411c3f9df8", nistBlock
        ),
        (
            .aes256CBC, longKey, "000102030405060708090a0b0c0d0e0f",
            "f58c4c04d6e5f1ba779eabfb5f7bfbd6485a5c81519cf378fa36d42b8547edc0",
            nistBlock
        ),
        (.aes128ECB, "000102030405060708090a0b0c0d0e0f", "", "954f64f2e4e86e9eee82d20216684899", ""),
    ])
    func `a text is decrypted and loses its padding`(
        _ cipher: BlockCipher, _ key: String, _ vector: String, _ ciphertext: String, _ expected: String
    ) {
        #expect(
            cipher.decrypt(bytes(ciphertext), key: bytes(key), initializationVector: bytes(vector)).map(hex) == expected
        )
    }

    @Test(arguments: [
        "", "00", "b2916af5a2e7de7a238cf49ca98718",
        "b2916af5a2e7de7a238cf49ca98718b850a45ce174393ed32fc5dea221aa4cb100",
        // The first block alone ends in no padding, nor does a block that was never padded.
        "b2916af5a2e7de7a238cf49ca98718b8", "281567ab2f4cf0d73d3198225b8b8393",
    ])
    func `what no such cipher has written is refused`(_ ciphertext: String) {
        #expect(BlockCipher.aes128ECB.decrypt(bytes(ciphertext), key: bytes("000102030405060708090a0b0c0d0e0f")) == nil)
    }

    private func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
