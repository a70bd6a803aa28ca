import HTTPClient
import Primitives
import Push
import PushClient

/// Any bytes as the answer of a push provider, and of the service that gives out access tokens: only the status says
/// that a push was taken, and whatever the content says, a log can show it.
///
/// An answer is two bytes with its status, from 100; a line that is its header fields `retry-after` and `apns-id`; and
/// its content.
package func fuzzPushAnswer(_ bytes: Span<UInt8>) {
    var reader = ByteReader(bytes)
    guard let number = reader.readUInt16(), let rest = reader.readBytes(reader.remaining) else { return }
    let status = 100 + Int(number) % 900
    let line = rest.prefix { $0 != UInt8(ascii: "\n") }
    let value = String(decoding: line, as: UTF8.self)
    let response = HTTPResponse(
        status: status, fields: [HTTPField("retry-after", value), HTTPField("apns-id", value)],
        content: Array(rest.dropFirst(line.count + 1)))
    check(AppleProvider.verdict(response), of: status, isSuccess: status == 200)
    check(GoogleProvider.verdict(response), of: status, isSuccess: status == 200)
    let webhook = WebhookPush.verdict(status: status, after: response.retryDelay)
    check(webhook, of: status, isSuccess: (200...299).contains(status))
    do throws(CredentialProblem) {
        let token = try GoogleProvider.token(response)
        precondition(status == 200, "a failure brings no token")
        precondition(
            !token.accessToken.isEmpty && token.accessToken.utf8.allSatisfy { (0x21...0x7E).contains($0) },
            "a token fits into a header field")
        precondition(Duration.seconds(60)...(.seconds(86_400)) ~= token.renewal, "a token is used for a while")
    } catch {
        checkPrintable(error.reason)
    }
}

private func check(_ verdict: PushVerdict, of status: Int, isSuccess: Bool) {
    if case .delivered(let name) = verdict {
        precondition(isSuccess, "the status says whether a push was taken")
        if let name { checkPrintable(name) }
        return
    }
    precondition(!isSuccess, "what was taken is not sent again, and ends no registration")
    switch verdict {
    case .delivered: break
    case .registrationDead(let reason, let since):
        checkPrintable(reason)
        precondition(since ?? 0 < 1_000_000_000_000_000, "a time that clocks can show")
    case .credentialExpired(let reason): checkPrintable(reason)
    case .retry(let reason, let delay):
        checkPrintable(reason)
        precondition(delay ?? .zero >= .zero, "nothing is sent before now")
    case .refused(let refused, let reason):
        checkPrintable(reason)
        precondition(refused == status, "the status is the provider's")
    }
}

private func checkPrintable(_ text: String) {
    precondition(!text.isEmpty && text.utf8.count <= 256, "short")
    precondition(text.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "printable")
}
