import CallControl
import CallRuntime
import Foundation
import Registration
import SignalingServer
import Testing

/// Long polls over HTTP (spidr-wire §4.5).
struct PollRouteTests {
    private static let path = "/rest/version/1/user/joe@example.com/notification/ws-7d0e"
    private let joe = address("joe")
    private let channel = ChannelID("ws-7d0e")

    private func frame(_ id: UInt64) -> NotificationFrame {
        NotificationFrame(
            eventID: id, time: 1_700_000_000_123, user: joe, channel: channel, notice: .aliceHears(nil))
    }

    private func eventID(_ answer: HTTPText) throws -> String? {
        let object = try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: [String: Any]]
        return object?["notificationMessage"]?["eventId"] as? String
    }

    @Test func `a subscription by long poll has a channel to poll, and says how long a poll waits`() async throws {
        try await TestServer.run { server in
            for type in ["LongPolling", "longpolling"] {
                let answer = try await server.request(
                    "POST", "/rest/version/1/user/joe@example.com/subscription",
                    #"{"subscribeRequest":{"service":["call"],"notificationType":"\#(type)","pollingTimer":10}}"#)
                #expect(answer.status == 201)
                #expect(answer.body.contains("/notification/"))
                #expect(answer.body.contains(#""notificationType":"LongPolling""#))
                #expect(answer.body.contains(#""pollingTimer":30"#))
            }
        }
    }

    @Test func `a poll is answered with one notification, and the next one confirms it`() async throws {
        try await TestServer.run(configure: { $0.pollTime = .seconds(1) }) { server in
            let client = try await RawClient.connect(server.port)
            func poll() async throws -> HTTPText {
                try await client.send(TestServer.text("GET", Self.path, nil, as: nil, headers: []))
                return HTTPText(await client.read(until: HTTPText.length) ?? [])
            }
            /// Polls that were answered with nothing are repeated: the machine may be busy.
            func next() async throws -> HTTPText {
                while true {
                    let answer = try await poll()
                    if answer.status != 200 || !answer.body.isEmpty { return answer }
                }
            }
            async let waiting = next()
            await server.switchboard.wait { $0.contains(.opened(joe, channel)) }
            let socket = try #require(await server.switchboard.socket)
            server.sockets.transmit(frame(7), to: socket)
            server.sockets.transmit(frame(8), to: socket)
            let first = try await waiting
            #expect(first.status == 200)
            #expect(try eventID(first) == "7")
            #expect(first["content-type"] == "application/json")
            let second = try await next()
            #expect(try eventID(second) == "8")
            await server.switchboard.wait { $0.contains(.confirmed(joe, channel, through: 7)) }
            let nothing = try await poll()
            #expect(nothing.status == 200)
            #expect(nothing.body.isEmpty)
            #expect(nothing["content-type"] == "text/plain; charset=utf-8")
            server.sockets.close(socket, .normal)
            let gone = try await poll()
            #expect(gone.status == 410)
            #expect(try gone.member("statusCode") == "23")
            await client.close()
        }
    }

    @Test func `a channel that does not exist is gone, and takes no other method`() async throws {
        try await TestServer.run { server in
            await server.switchboard.set(channelsExist: false)
            let asked = [
                ("GET", Self.path, 410), ("HEAD", Self.path, 410), ("POST", Self.path, 405),
                ("GET", "/rest/version/1/anonymous/x/notification/ws-1", 410),
            ]
            for (method, path, status) in asked {
                let answer = try await server.request(method, path, as: nil)
                #expect(answer.status == status, "\(method) \(path)")
            }
        }
    }

    @Test func `a gateway that stops releases the polls that wait`() async throws {
        try await TestServer.run { server in
            async let waiting = server.request("GET", Self.path, as: nil)
            await server.switchboard.wait { $0.contains(.opened(joe, channel)) }
            await server.shutDown()
            let answer = try await waiting
            #expect(answer.status == 200)
            #expect(answer.body.isEmpty)
            await server.switchboard.wait { $0.contains(.closed(joe, channel)) }
        }
    }
}
