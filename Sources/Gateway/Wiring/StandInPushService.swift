import Cryptography
import Foundation
import NIOCore
import Primitives
import Push
import SignalingServer

/// The push service of an app that does not exist: `--dev` offers it to the demo page, whose phones can sleep and are
/// woken by webhooks.
///
/// It is the application's side of a webhook: it checks the signature (Standard Webhooks 1.0.0), and keeps what came
/// for a phone until the page asks for it with `GET`. A phone is there from a `PUT` on, as long as its page asks. A
/// webhook for another one is answered with 410, so that its registration ends.
actor StandInPushService: PageService {
    /// The identifier of the app that it stands in for.
    static let bundleID = "dev.orbweaver.demo"

    private struct Phone {
        var pushes: [ByteBuffer] = []
        /// The page's request for the next push.
        var asking: CheckedContinuation<ByteBuffer?, Never>?
        /// Numbers the requests, so that the end of one does not end a later one.
        var asked = 0
        /// Until when the phone is there without a request.
        var end: MonotonicTime
    }

    nonisolated let prefix = "/demo/push/"
    private let key: [UInt8]
    private let clock = SystemClock()
    private var phones: [String: Phone] = [:]
    private var url: String?

    private static let phoneLimit = 32
    private static let pushLimit = 16
    private static let waitTime = Duration.seconds(20)
    private static let absence = Duration.seconds(30)
    private static let signatureAge: Int64 = 300

    /// - Parameter key: signs the webhooks of the app.
    init(key: [UInt8]) { self.key = key }

    /// From now on webhooks arrive at this port, by TLS.
    func serve(onPort port: Int) { url = "https://localhost:\(port)\(prefix)" }

    func answer(_ request: PageRequest) async -> PageAnswer {
        phones = phones.filter { $0.value.asking != nil || $0.value.end > clock.now }
        switch (request.method, request.name) {
        case ("GET", ""):
            guard let url else { return PageAnswer(503) }
            return PageAnswer(
                200, ByteBuffer(string: #"{"url":"\#(url)","bundleID":"\#(Self.bundleID)"}"#))
        case ("PUT", let name):
            guard phones[name] != nil || phones.count < Self.phoneLimit else { return PageAnswer(429) }
            phones[name, default: Phone(end: clock.now)].end = clock.now + Self.absence
            return PageAnswer(204)
        case ("GET", let name):
            guard phones[name] != nil else { return PageAnswer(410) }
            return await next(of: name).map { PageAnswer(200, $0) } ?? PageAnswer(200, ByteBuffer(string: "{}"))
        case ("POST", let name): return take(request, for: name)
        default: return PageAnswer(405)
        }
    }

    /// Keeps a push for a phone, or gives it to the page.
    private func take(_ request: PageRequest, for name: String) -> PageAnswer {
        guard isSigned(request) else { return PageAnswer(401) }
        guard var phone = phones[name] else { return PageAnswer(410) }
        if let asking = phone.asking {
            phone.asking = nil
            phone.end = clock.now + Self.absence
            phones[name] = phone
            asking.resume(returning: request.content)
        } else {
            guard phone.pushes.count < Self.pushLimit else { return PageAnswer(503) }
            phones[name]?.pushes.append(request.content)
        }
        return PageAnswer(204)
    }

    /// The next push; `nil` if none comes for a while.
    private func next(of name: String) async -> ByteBuffer? {
        var phone = phones[name] ?? Phone(end: clock.now)
        phone.end = clock.now + Self.absence
        phone.asked += 1
        // Two pages may show the same phone: the later one has it.
        phone.asking?.resume(returning: nil)
        phone.asking = nil
        guard phone.pushes.isEmpty else {
            let push = phone.pushes.removeFirst()
            phones[name] = phone
            return push
        }
        let number = phone.asked
        return await withCheckedContinuation { continuation in
            phone.asking = continuation
            phones[name] = phone
            Task {
                // Fails only if it is cancelled, which it is not.
                do { try await clock.sleep(until: clock.now + Self.waitTime) } catch {}
                giveUp(number, of: name)
            }
        }
    }

    private func giveUp(_ number: Int, of name: String) {
        guard let phone = phones[name], phone.asked == number else { return }
        phones[name]?.asking = nil
        phone.asking?.resume(returning: nil)
    }

    /// Whether the signature is the gateway's, and not an old one.
    private func isSigned(_ request: PageRequest) -> Bool {
        guard let id = request.fields["webhook-id"], let signatures = request.fields["webhook-signature"],
            let seconds = request.fields["webhook-timestamp"].flatMap({ UInt64($0) }),
            abs(Int64(clamping: seconds) - clock.epochMilliseconds / 1_000) <= Self.signatureAge
        else { return false }
        let content = Array(request.content.readableBytesView)
        let signed = WebhookPush.signedBytes(name: id, seconds: seconds, content: content)
        let code = Data(HMAC.sha256(key: key, signed.span)).base64EncodedString()
        return constantTimeEqual(Array(WebhookPush.signature(codes: [code]).utf8), Array(signatures.utf8))
    }
}
