import Primitives
import SignalingServer

/// Any text as a bearer token, as the file with its keys, and as JSON: no text is a token that somebody has signed, and
/// a member that is there twice is never read.
package func fuzzBearerToken(_ bytes: Span<UInt8>) {
    let bytes = [UInt8](copying: bytes)
    let text = String(decoding: bytes, as: UTF8.self)
    if let keys = try? TokenKeySet(parsing: Array(#"{"keys":[{"kty":"oct","k":"\#(secret)"}]}"#.utf8)) {
        let bearer = try? TokenPolicy().bearer(
            of: text, keys: keys, defaultDomain: "example.com", atUnixMilliseconds: 0)
        precondition(bearer == nil, "a signature is not guessed")
    }
    do throws(TokenKeySetError) {
        let keys = try TokenKeySet(parsing: bytes)
        precondition(keys.count > 0, "a file that is used has a key")
    } catch {
        precondition(!error.description.isEmpty, "a refusal says why")
    }
    guard let members = StrictJSON(bytes)?.members, !members.isEmpty,
        let opening = bytes.firstIndex(of: UInt8(ascii: "{")), let closing = bytes.lastIndex(of: UInt8(ascii: "}"))
    else { return }
    let twice = bytes[..<closing] + [UInt8(ascii: ",")] + bytes[(opening + 1)...]
    precondition(StrictJSON(Array(twice)) == nil, "a member is there once")
}

/// 32 bytes in base64url.
private let secret = "WlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlo"
