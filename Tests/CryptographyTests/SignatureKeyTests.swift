import Cryptography
import Foundation
import Testing

/// The vectors of RFC 7515 appendix A.1 to A.3 and RFC 8037 appendix A.4.
@Suite struct `Signature keys` {
    private let modulus =
        "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"
    private let payload =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    private let rsaSignature =
        "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
    private let pointX = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
    private let pointY = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
    private let ecSignature = "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"

    @Test func `HMAC with SHA-256 (RFC 7515 A.1)`() throws {
        let key = try SignatureKey(
            secret: decoded("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"))
        #expect(key.algorithm == .hmacSHA256)
        check(key, "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.\(payload)", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
    }

    @Test func `RSA with SHA-256 (RFC 7515 A.2)`() throws {
        let key = try SignatureKey(rsaModulus: decoded(modulus), exponent: decoded("AQAB"))
        #expect(key.algorithm == .rsaSHA256)
        check(key, "eyJhbGciOiJSUzI1NiJ9.\(payload)", rsaSignature)
    }

    @Test func `ECDSA on P-256 with SHA-256 (RFC 7515 A.3)`() throws {
        let key = try SignatureKey(p256X: decoded(pointX), y: decoded(pointY))
        #expect(key.algorithm == .ecdsaP256SHA256)
        check(key, "eyJhbGciOiJFUzI1NiJ9.\(payload)", ecSignature)
        // Zero for both numbers, which some libraries took for a signature of everything (CVE-2022-21449).
        #expect(!key.verifies([UInt8](repeating: 0, count: 64), of: [1]))
        #expect(!key.verifies([], of: [1]))
        #expect(!key.verifies([UInt8](repeating: 0xFF, count: 64), of: [1]))
    }

    @Test func `Ed25519 (RFC 8037 A.4)`() throws {
        let key = try SignatureKey(ed25519: decoded("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"))
        #expect(key.algorithm == .ed25519)
        check(
            key, "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
            "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg")
    }

    @Test func `keys in PEM are of the kind that they say`() throws {
        let rsa = try SignatureKey(publicKeyPEM: Self.rsaPEM)
        #expect(rsa.algorithm == .rsaSHA256)
        check(rsa, "eyJhbGciOiJSUzI1NiJ9.\(payload)", rsaSignature)
        let point = try SignatureKey(publicKeyPEM: Self.ecPEM)
        #expect(point.algorithm == .ecdsaP256SHA256)
        check(point, "eyJhbGciOiJFUzI1NiJ9.\(payload)", ecSignature)
        #expect(try SignatureKey(publicKeyPEM: Self.edPEM).algorithm == .ed25519)
    }

    @Test func `keys that are weak, of another kind or broken are refused`() throws {
        #expect(throws: SignatureKeyError.tooShort) { try SignatureKey(secret: [UInt8](repeating: 1, count: 31)) }
        #expect(throws: SignatureKeyError.tooShort) { try SignatureKey(publicKeyPEM: Self.shortPEM) }
        #expect(throws: SignatureKeyError.tooShort) {
            try SignatureKey(rsaModulus: [UInt8](repeating: 0xFF, count: 128), exponent: [1, 0, 1])
        }
        #expect(throws: SignatureKeyError.tooLong) {
            try SignatureKey(rsaModulus: [UInt8](repeating: 0xFF, count: 1_025), exponent: [1, 0, 1])
        }
        #expect(throws: SignatureKeyError.unsupported) { try SignatureKey(publicKeyPEM: Self.otherCurvePEM) }
        #expect(throws: SignatureKeyError.malformed) { try SignatureKey(publicKeyPEM: "-----BEGIN PUBLIC KEY-----") }
        #expect(throws: SignatureKeyError.malformed) { try SignatureKey(ed25519: [1, 2, 3]) }
        // Not on the curve, and not whole.
        #expect(throws: SignatureKeyError.malformed) { try SignatureKey(p256X: decoded(pointX), y: decoded(pointX)) }
        #expect(throws: SignatureKeyError.malformed) { try SignatureKey(p256X: [1], y: decoded(pointY)) }
    }

    /// The signature is that of the message, and of no other; another signature is not.
    private func check(_ key: SignatureKey, _ message: String, _ signature: String) {
        let (bytes, signed) = (Array(message.utf8), decoded(signature))
        #expect(key.verifies(signed, of: bytes))
        #expect(!key.verifies(signed, of: bytes + [0]))
        #expect(!key.verifies(Array(signed.dropLast()), of: bytes))
        #expect(!key.verifies(signed + [0], of: bytes))
        for index in [0, signed.count / 2, signed.count - 1] {
            var other = signed
            other[index] ^= 1
            #expect(!key.verifies(other, of: bytes))
        }
    }

    private func decoded(_ text: String) -> [UInt8] {
        let padded = text.replacing("-", with: "+").replacing("_", with: "/")
        return Data(base64Encoded: padded + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)).map(
            Array.init)
            ?? []
    }

    private static let rsaPEM = """
        -----BEGIN PUBLIC KEY-----
        MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAofgWCuLjybRlzo0tZWJj
        NiuSfb4p4fAkd/wWJcyQoTbji9k0l8W26mPddxHmfHQp+Vaw+4qPCJrcS2mJPMEz
        P1Pt0Bm4d4QlL+yRT+SFd2lZS+pCgNMsD1W/YpRPEwOWvG6b32690r2jZ47soMZo
        9wGzjb/7OMg0LOL+bSf63kpaSHSXndS5z5rexMdbBYUsLA9e+KXBdQOS+UTo7WTB
        EMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6/I5IhlJH7aGhyxX
        FvUK+DWNmoudF8NAco9/h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXp
        oQIDAQAB
        -----END PUBLIC KEY-----
        """
    private static let ecPEM = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV7
        6e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==
        -----END PUBLIC KEY-----
        """
    private static let edPEM = """
        -----BEGIN PUBLIC KEY-----
        MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=
        -----END PUBLIC KEY-----
        """
    /// RSA with 1,024 bits.
    private static let shortPEM = """
        -----BEGIN PUBLIC KEY-----
        MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCqxsePlKbMha5P7bh/w7V9NCgB
        r019pmCoucloy3Ow6f32EKWB+BDdhM36a6Ax/YSUWi+cmL0XrUJZVoG4asqSFash
        wG4YTG41/++AVm+cBi/faicVAO71gpAVQq2lQ5wkeLV65UHfO5G2Lmwr0vKj8BE9
        4elKyzexBFQC4ND7CwIDAQAB
        -----END PUBLIC KEY-----
        """
    /// A point on P-384.
    private static let otherCurvePEM = """
        -----BEGIN PUBLIC KEY-----
        MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEF+Y+5H+agbgBLXwc5W3fboaytJjn4oYR
        HqqbuIdxdC9rM/k9Yw45X+0o982QPu9YZVJxbtCUxykBvmeqAiTCYsnoGEABiRcm
        qoZ/Mv5LS1wtYF+2O3YzRZmUbh3KAQAp
        -----END PUBLIC KEY-----
        """
}
