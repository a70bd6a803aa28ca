import CallControl
import Primitives
import SignalingServer

/// Any bytes as the signed claims of a callMe token, and as a whole token: what is read can be shown and compared.
package func fuzzSignedCallMeToken(_ bytes: Span<UInt8>) {
    let bytes = [UInt8](copying: bytes)
    precondition(
        realm.read(String(decoding: bytes, as: UTF8.self), defaultDomain: "example.com") == nil,
        "nobody has the key")
    guard let claims = StrictJSON(bytes)?.members,
        let token = SignedCallMeToken(claims, defaultDomain: "example.com")
    else { return }
    precondition(claims["aud"] == .string("callMe"), "the token is for this purpose")
    precondition(UserAddress(parsing: token.callee.text) == token.callee, "an address is one")
    precondition(token.expiresAt >= 0 && token.expiresAt <= 1_000_000_000_000_000, "a time is one")
    if let name = token.callerName {
        precondition((1...SignedCallMeToken.nameLimit).contains(name.utf8.count), "a name is shown in full")
    }
    if let identifier = token.singleUse {
        precondition(claims["once"] == .boolean(true) && claims["jti"] == .string(identifier), "it is said to be so")
    }
}

private let realm: CallMeRealm = {
    guard let realm = CallMeRealm("shop", signatureKey: (0..<32).map { UInt8(truncatingIfNeeded: $0 * 37 + 11) }) else {
        preconditionFailure("the key is long enough")
    }
    return realm
}()
