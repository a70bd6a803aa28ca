import Primitives
import SignalingServer

/// Any text as `Sec-WebSocket-Extensions`: what the gateway agrees to is something that it can do, and was offered.
package func fuzzDeflateOffer(_ bytes: Span<UInt8>) {
    let text = String(decoding: [UInt8](copying: bytes), as: UTF8.self)
    for mode in [DeflateAgreement.Mode.perMessage, .perChannel] {
        guard let agreed = DeflateAgreement(to: [text], mode) else { continue }
        precondition(text.lowercased().contains("permessage-deflate"), "only what is offered is agreed to")
        precondition((9...15).contains(agreed.windowBits), "zlib can write such a window")
        precondition(!agreed.keepsContext || mode == .perChannel, "a context is kept only if that is configured")
        precondition(agreed.keepsContext != agreed.answer.contains("server_no_context_takeover"), "the answer says so")
        precondition(agreed.answer.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "the answer is a header")
        precondition(DeflateAgreement(to: ["other, " + text], mode) == agreed, "an offer before it changes nothing")
        precondition(DeflateAgreement(to: ["other", text], mode) == agreed, "nor does one in a header of its own")
        // A client that offers what was answered gets the same.
        let again = DeflateAgreement(to: [agreed.answer], mode)
        precondition(again?.windowBits ?? 0 >= agreed.windowBits, "the answer is an offer that can be agreed to")
    }
}
