import Primitives
import STUN

/// Any bytes: the parser does not trap, and what it accepts means the same after encoding and parsing again.
package func fuzzSTUN(_ bytes: Span<UInt8>) {
    guard let message = try? STUNMessage(parsing: bytes) else { return }  // refusing is a fine answer
    _ = message.hasValidFingerprint(in: bytes)
    _ = message.hasValidIntegrity(in: bytes, key: [1, 2, 3], authentication: FoldedTag())

    // With integrity and fingerprint added, a message of full length would not fit its length field.
    guard bytes.count <= 65_000 else { return }
    let encoded = message.encoded(password: "password", authentication: FoldedTag())
    do {
        let again = try STUNMessage(parsing: encoded.span)
        precondition(again.messageClass == message.messageClass && again.method == message.method, "the type survives")
        precondition(again.transactionID == message.transactionID, "the transaction ID survives")
        precondition(again.attributes == message.attributes, "the attributes survive")
        precondition(again.hasValidFingerprint(in: encoded.span), "our fingerprint is right")
        precondition(
            again.hasValidIntegrity(in: encoded.span, key: Array("password".utf8), authentication: FoldedTag()),
            "our integrity is right")
    } catch {
        preconditionFailure("what was encoded does not parse: \(error)")
    }
}

/// Not a digest: twenty bytes that depend on every byte of key and message, fast enough for millions of runs.
struct FoldedTag: MessageAuthentication {
    func hmacSHA1(key: [UInt8], _ message: Span<UInt8>) -> [UInt8] {
        var tag = [UInt8](repeating: 0x5A, count: 20)
        for (index, byte) in key.enumerated() { tag[index % 20] = tag[index % 20] &* 31 &+ byte }
        for index in message.indices { tag[index % 20] = tag[index % 20] &* 31 &+ message[index] }
        return tag
    }
}
