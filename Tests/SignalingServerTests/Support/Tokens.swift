import Cryptography
import Foundation
import SignalingServer

/// Tokens that the tests make, and the keys for them.
enum Tokens {
    /// The time of ``ManualClock``, in seconds since 1970.
    static let now: Int64 = 784_111_777
    static let secret = [UInt8](repeating: 0x5A, count: 32)

    /// One secret, by the name `a`.
    static let keySet = #"{"keys":[{"kty":"oct","kid":"a","k":"\#(base64URL(secret))"}]}"#

    /// A token signed with HMAC under a secret.
    static func signed(
        _ claims: String, header: String = #"{"alg":"HS256","kid":"a"}"#, secret: [UInt8] = secret
    ) -> String {
        let text = base64URL(Array(header.utf8)) + "." + base64URL(Array(claims.utf8))
        return text + "." + base64URL(HMAC.sha256(key: secret, Array(text.utf8).span))
    }

    /// A token of a user that ends some seconds from now.
    static func of(_ user: String, expiring seconds: Int64 = 600) -> String {
        signed(#"{"sub":"\#(user)","exp":\#(now + seconds)}"#)
    }

    static func base64URL(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// The RSA, EC and Ed25519 keys of RFC 7515 A.2 and A.3 and RFC 8037 A.2.
    static let rsa =
        #""kty":"RSA","e":"AQAB","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ""#
    static let point =
        #""kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0""#
    static let edwards = #""kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo""#

    private static let payload =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    /// The token of RFC 7515 A.2: issued by `joe`, and valid until 2011.
    static let rsaExample =
        "eyJhbGciOiJSUzI1NiJ9.\(payload).cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
    /// The token of RFC 7515 A.3, with the same claims.
    static let pointExample =
        "eyJhbGciOiJFUzI1NiJ9.\(payload).DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    /// RFC 8037 A.4: a signed text that is not JSON.
    static let edwardsExample =
        "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
}
