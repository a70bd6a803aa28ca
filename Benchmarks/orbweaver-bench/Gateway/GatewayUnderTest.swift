import ArgumentParser
import Foundation
import NIOCore
import NIOHTTP1

/// `orbweaver serve --dev` with one event loop and one media worker, and what a client needs to talk to it.
final class GatewayUnderTest {
    let process: ChildProcess
    let port: Int
    private let tlsPort: Int

    /// Two users make all calls, as fast as they can.
    private static let oneForAll = ["max_per_user", "max_ringing_per_user", "starts_per_user"].map {
        "calls.\($0)=1000000"
    }
    /// For clients that wait for each notification before they go on: none is held back while they digest an answer,
    /// which would make every call 350 ms long and so leave the gateway idle.
    static let toldAtOnce = ["registration.answer_time=0s", "registration.session_time=0s"]

    /// - Parameter settings: `section.key=value`, over those of `--dev`.
    init(_ binary: String, settings: [String] = []) async throws {
        port = try await FreePort.tcp()
        tlsPort = try await FreePort.tcp()
        let arguments =
            [
                "serve", "--dev", "--http-port", "\(port)", "--https-port", "\(tlsPort)", "--media-port",
                "\(try FreePort.udp())",
            ]
            + (["media.workers=1", "media.bind=127.0.0.1", "log.level=error"] + Self.oneForAll + settings).flatMap {
                ["--set", $0]
            }
        process = try await ChildProcess(binary, arguments, port: port)
    }

    func path(_ user: String, _ resource: String) -> String { "/rest/version/1/user/\(user)/\(resource)" }

    /// Subscribes a user and, unless told not to, opens the channel.
    func register(_ user: String, _ client: HTTPClient, listens: Bool = true, overTLS: Bool = false) async throws
        -> NotificationSocket?
    {
        let body = #"{"subscribeRequest":{"expires":3600,"service":["call"],"notificationType":"WebSocket"}}"#
        let answer = try await client.request(
            .POST, path(user, "subscription"), user: user, body: ByteBuffer(string: body))
        guard answer.status == 201 else {
            throw ValidationError("subscribe: \(answer.status) \(String(buffer: answer.body))")
        }
        let granted = try JSONDecoder().decode(Subscribed.self, from: Data(answer.body.readableBytesView))
            .subscribeResponse
        guard listens else { return nil }
        return try await NotificationSocket(
            port: overTLS ? tlsPort : port, overTLS: overTLS, path: granted.subscriptionParams.notificationChannel)
    }

    private struct Subscribed: Decodable {
        struct Response: Decodable {
            struct Parameters: Decodable { var notificationChannel: String }
            var subscriptionParams: Parameters
        }
        var subscribeResponse: Response
    }
}
