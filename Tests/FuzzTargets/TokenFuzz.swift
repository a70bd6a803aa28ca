import CallControl
import Primitives
import Registration

/// Any bytes as what a callMe token decrypts to: a realm's key makes nobody's bytes an address.
package func fuzzCallMeToken(_ bytes: Span<UInt8>) {
    // Refusing is a fine answer.
    guard let token = CallMeToken(parsing: [UInt8](copying: bytes), defaultDomain: "example.com") else { return }
    precondition(token.issuedAt >= 0, "no time before 1970")
    precondition(UserAddress(parsing: token.address.text) == token.address, "an address is one")
    let again = CallMeToken(
        parsing: Array("\(token.address.text);\(token.issuedAt)".utf8), defaultDomain: "example.com")
    precondition(again == token, "a token survives writing and reading")
    precondition(
        token.isCurrent(atUnixMilliseconds: token.issuedAt, window: .zero), "a token is current when it is made")
    for time in [Int64.min, -1, 0, .max] { _ = token.isCurrent(atUnixMilliseconds: time, window: .seconds(300)) }
}
