import CallControl
import CallRuntime
import Foundation
import Observability
import Registration
import SignalingServer
import Testing

@Suite struct `Notification channel` {
    private typealias Frame = WebSocketClient.Frame
    private let joe = address("joe")
    private let channel = ChannelID("ws-7d0e")

    private func frame(_ id: UInt64, sdp: String? = nil) -> NotificationFrame {
        NotificationFrame(
            eventID: id, time: 1_700_000_000_123, user: joe, channel: channel,
            notice: .aliceHears(sdp))
    }

    private func open(_ server: TestServer) async throws -> (WebSocketClient, SocketID) {
        let (client, answer) = try await WebSocketClient.open(server.port)
        #expect(answer.status == 101)
        await server.switchboard.wait { $0.contains(.opened(joe, channel)) }
        return (client, try #require(await server.switchboard.socket))
    }

    @Test func `opens with the channel's path, in order delivers, and tells when it closes`() async throws {
        try await TestServer.run(configure: { $0.confirmation.count = 1_000 }) { server in
            let (client, answer) = try await WebSocketClient.open(server.port)
            #expect(answer.status == 101)
            // RFC 6455 §1.3
            #expect(answer["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
            await server.switchboard.wait { $0 == [.opened(joe, channel)] }
            let socket = try #require(await server.switchboard.socket)
            for id in 1...100 { server.sockets.transmit(frame(UInt64(id)), to: socket) }
            for id in 1...100 {
                let received = try #require(await client.receive())
                #expect(received.opcode == Frame.text)
                let object = try #require(
                    try JSONSerialization.jsonObject(with: Data(received.payload)) as? [String: [String: Any]])
                #expect(object.keys.elementsEqual(["notificationMessage"]))
                #expect(object["notificationMessage"]?["eventId"] as? String == String(id))
            }
            #expect(server.metrics.webSocketsActive.value == 1)
            try await client.send(Frame.close, [0x03, 0xE8])
            #expect(await client.receiveClose() == 1000)
            await server.switchboard.wait { $0.last == .closed(joe, channel) }
            #expect(server.metrics.webSocketsActive.value == 0)
        }
    }

    @Test func `what several sockets are told at once arrives in order, and before they end`() async throws {
        try await TestServer.run(configure: { $0.confirmation.count = 1_000 }) { server in
            let (first, one) = try await open(server)
            let (second, _) = try await WebSocketClient.open(server.port)
            await server.switchboard.wait { $0.count == 2 }
            let two = try #require(await server.switchboard.socket)
            #expect(one != two)
            let frames = (1...50).flatMap { number in
                [
                    AddressedFrame(frame(UInt64(number)), to: one),
                    AddressedFrame(frame(UInt64(1_000 + number)), to: two),
                    AddressedFrame(frame(7), to: SocketID(.max)),
                ]
            }
            server.sockets.transmission(of: frames)()
            server.sockets.close(one, .normal)
            for (client, start) in [(first, 0), (second, 1_000)] {
                for number in 1...50 {
                    let received = try #require(await client.receive())
                    let object = try #require(
                        try JSONSerialization.jsonObject(with: Data(received.payload)) as? [String: [String: Any]])
                    #expect(object["notificationMessage"]?["eventId"] as? String == String(start + number))
                }
            }
            #expect(await first.receiveClose() == 1000)
            await first.connection.close()
            await second.connection.close()
        }
    }

    @Test func `a client confirms what it has received by answering a ping`() async throws {
        try await TestServer.run(configure: { $0.confirmation.count = 2 }) { server in
            let (client, socket) = try await open(server)
            for id in 1...3 { server.sockets.transmit(frame(UInt64(id)), to: socket) }
            let frames = [await client.receive(), await client.receive(), await client.receive()]
            #expect(frames.map { $0?.opcode } == [Frame.text, Frame.text, Frame.ping])
            let payload = try #require(frames[2]?.payload)
            #expect(payload == [0, 0, 0, 0, 0, 0, 0, 2])
            #expect(await client.receive()?.opcode == Frame.text)
            try await client.send(Frame.pong, payload)
            await server.switchboard.wait { $0.contains(.confirmed(joe, channel, through: 2)) }
            await client.connection.close()
        }
    }

    @Test func `without a burst the ping comes after a while`() async throws {
        try await TestServer.run(configure: { $0.confirmation = (25, .milliseconds(50)) }) { server in
            let (client, socket) = try await open(server)
            server.sockets.transmit(frame(7), to: socket)
            #expect(await client.receive()?.opcode == Frame.text)
            #expect(await client.receive() == Frame(opcode: Frame.ping, payload: [0, 0, 0, 0, 0, 0, 0, 7]))
            await client.connection.close()
        }
    }

    @Test(arguments: [("since=41", 41), ("x=1&since=41", 41), ("since=", nil), ("since=-1", nil), ("token=7", nil)])
    func `a client may say which notification it has`(_ query: String, _ latest: UInt64?) async throws {
        try await TestServer.run { server in
            let (client, answer) = try await WebSocketClient.open(server.port, path: WebSocketClient.path + "?" + query)
            #expect(answer.status == 101)
            await server.switchboard.wait { $0 == [.opened(joe, channel, since: latest)] }
            await client.connection.close()
        }
    }

    @Test func `an unknown channel is refused in JSON, and so is every channel while draining`() async throws {
        try await TestServer.run { server in
            await server.switchboard.set(channelsExist: false)
            let unknown = try await RawClient.connect(server.port)
            try await unknown.send(WebSocketClient.handshake())
            let answer = HTTPText(await unknown.readToEnd())
            #expect(answer.status == 404)
            #expect(answer["content-type"] == "application/json")
            #expect(try answer.member("code") == "channel.not_found")

            server.service.startDraining()
            let late = try await RawClient.connect(server.port)
            try await late.send(WebSocketClient.handshake())
            #expect(HTTPText(await late.readToEnd()).status == 503)
        }
    }

    @Test(arguments: [
        (WebSocketClient.handshake(version: 8), 426),
        (WebSocketClient.handshake("/health"), 200),
        (WebSocketClient.handshake("/rest/version/2/user/joe@example.com/websocket/x"), 400),
        (WebSocketClient.handshake("/rest/version/1/user/joe@example.com/subscription"), 405),
    ])
    func `a handshake that cannot be followed is an ordinary request`(_ text: String, _ status: Int) async throws {
        try await TestServer.run { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(text)
            let answer = HTTPText(try #require(await client.read(until: HTTPText.length)))
            #expect(answer.status == status)
            #expect(answer["sec-websocket-version"] == (status == 426 ? "13" : nil))
            await client.close()
        }
    }

    @Test func `keep-alives of every client are taken, pings answered`() async throws {
        try await TestServer.run { server in
            let (client, _) = try await open(server)
            try await client.send(Frame.text, Array(#"{"message_type":"ping"}"#.utf8))
            try await client.send(Frame.text, Array("test".utf8))
            try await client.send(Frame.binary, [0xFF, 0x00])
            try await client.send(Frame.text, [1], fin: false)
            try await client.send(Frame.ping, [7])
            try await client.send(0, [2], fin: true)
            try await client.send(Frame.pong)
            try await client.send(Frame.ping, [8])
            #expect(await client.receive() == Frame(opcode: Frame.pong, payload: [7]))
            #expect(await client.receive() == Frame(opcode: Frame.pong, payload: [8]))
            await client.connection.close()
        }
    }

    @Test(arguments: [
        ("unmasked", 1002), ("reserved bit", 1002), ("continuation of nothing", 1002), ("unknown opcode", 1002),
        ("long ping", 1002), ("large frame", 1009), ("large message", 1009),
    ])
    func `a broken rule closes the channel with its code`(_ rule: String, _ code: Int) async throws {
        try await TestServer.run(configure: { $0.maxClientMessageBytes = 1000 }) { server in
            let (client, _) = try await open(server)
            switch rule {
            case "unmasked": try await client.send(Frame.text, [1], masked: false)
            case "reserved bit": try await client.send(Frame.text, [1], reserved: true)
            case "continuation of nothing": try await client.send(0, [1])
            case "unknown opcode": try await client.send(5, [1])
            case "long ping": try await client.send(Frame.ping, [UInt8](repeating: 0, count: 200))
            case "large frame": try await client.send(Frame.text, [UInt8](repeating: 0, count: 2000))
            default:
                try await client.send(Frame.text, [UInt8](repeating: 0, count: 900), fin: false)
                try await client.send(0, [UInt8](repeating: 0, count: 900))
            }
            #expect(await client.receiveClose() == code)
            // On a busy machine the server may not have waited for it.
            try? await client.send(Frame.close, [0x03, 0xEA])
            await server.switchboard.wait { $0.last == .closed(joe, channel) }
            #expect(server.metrics.webSocketsClosed[.protocolError].value == 1)
        }
    }

    @Test(
        arguments: [
            ([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xE8], 1000), ([0x88, 0x82, 0, 0, 0, 0, 0x0F, 0xA0], 4000),
            ([0x88, 0x80, 0, 0, 0, 0], nil),
            ([0x88, 0x81, 0, 0, 0, 0, 0x03], 1002), ([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xED], 1002),
            ([0x88, 0x82, 0, 0, 0, 0, 0x07, 0xD0], 1002),
            ([0x88, 0x83, 0, 0, 0, 0, 0x03, 0xE8, 0xFF], 1007),
            ([0x81, 0x81, 0, 0, 0, 0, 0xFF], 1007), ([0x81, 0xFE, 0x00, 0x01, 0, 0, 0, 0, 0x61], 1002),
            ([0x81, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0x01, 0, 0, 0, 0, 0x61], 1002),
        ] as [([UInt8], Int?)])
    func `what a client closes with is answered with the same or with the rule it breaks`(
        _ bytes: [UInt8], _ code: Int?
    ) async throws {
        try await TestServer.run { server in
            let (client, _) = try await open(server)
            try await client.connection.send(bytes)
            let answer = try #require(await client.receive())
            #expect(answer.opcode == Frame.close)
            #expect(answer.closeCode == code)
            try? await client.send(Frame.close, [0x03, 0xEA])
            await server.switchboard.wait { $0.last == .closed(joe, channel) }
            let isViolation = code == 1002 || code == 1007
            #expect(server.metrics.webSocketsClosed[.protocolError].value == (isViolation ? 1 : 0))
            #expect(server.metrics.webSocketsClosed[.byPeer].value == (isViolation ? 0 : 1))
        }
    }

    @Test func `whoever sends pings and reads no pongs is a slow reader`() async throws {
        try await TestServer.run(configure: { $0.slowReaderBytes = 100_000 }) { server in
            let connection = try await RawClient.connect(server.port, autoRead: false)
            try await connection.send(WebSocketClient.handshake())
            await server.switchboard.wait { $0.contains(.opened(joe, channel)) }
            let ping: [UInt8] = [0x89, 0xFD, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 125)
            let flood = Array(repeatElement(ping, count: 2_000).joined())
            // Kernel buffers take a few megabytes before anything is owed. Sending fails once the server has closed.
            for _ in 1...400 {
                do { try await connection.send(flood) } catch { break }
            }
            await server.switchboard.wait { $0.last == .closed(joe, channel) }
            #expect(server.metrics.webSocketsClosed[.tooSlow].value == 1)
            #expect(server.metrics.webSocketsClosed[.byPeer].value == 0)
            await connection.close()
        }
    }

    @Test(arguments: ["short", "dGhlIHNhbXBsZSBub25j", "dGhlIHNhbXBsZSBub25jZXM=", "????????????????????????", ""])
    func `a handshake whose key is not 16 bytes in base64 is refused`(_ key: String) async throws {
        try await TestServer.run { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(WebSocketClient.handshake().replacing("dGhlIHNhbXBsZSBub25jZQ==", with: key))
            let answer = HTTPText(await client.readToEnd())
            #expect(answer.status == 400)
            #expect(try answer.member("code") == "request.malformed")
        }
    }

    /// The id is unguessable, and there is no cookie that a page of another origin could make use of (CWE-1385).
    @Test func `a channel needs nothing but its id, wherever the page comes from`() async throws {
        try await TestServer.run { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(
                WebSocketClient.handshake().replacing(
                    "Host: localhost", with: "Host: localhost\r\nOrigin: https://elsewhere.example"))
            #expect(HTTPText(try #require(await client.read(until: HTTPText.headLength))).status == 101)
            await client.close()
            // Credentials do not help whoever does not know it.
            await server.switchboard.set(channelsExist: false)
            let stranger = try await RawClient.connect(server.port)
            let credentials = "Host: localhost\r\nCookie: session=1\r\nAuthorization: Basic am9lOnNlY3JldA=="
            try await stranger.send(WebSocketClient.handshake().replacing("Host: localhost", with: credentials))
            #expect(HTTPText(await stranger.readToEnd()).status == 404)
        }
    }

    @Test(arguments: [(ChannelCloseCode.normal, 1000), (.goingAway, 1001), (.policyViolation, 1008)])
    func `what was sent before goes out before the close`(_ code: ChannelCloseCode, _ number: Int) async throws {
        try await TestServer.run { server in
            let (client, socket) = try await open(server)
            server.sockets.transmit(frame(1), to: socket)
            server.sockets.close(socket, code)
            server.sockets.transmit(frame(2), to: socket)
            #expect(await client.receive()?.opcode == Frame.text)
            #expect(await client.receive()?.closeCode == number)
            // On a busy machine the server may not have waited for it.
            try? await client.send(Frame.close, [UInt8(number >> 8), UInt8(number & 0xFF)])
            #expect(await client.receive() == nil)
            await server.switchboard.wait { $0.last == .closed(joe, channel) }
            // A socket that is gone is ignored.
            server.sockets.transmit(frame(3), to: socket)
            server.sockets.close(socket, code)
        }
    }

    @Test func `a channel that ended before the socket opened closes for good`() async throws {
        try await TestServer.run { server in
            await server.switchboard.set(channelsOpen: false)
            let (client, _) = try await WebSocketClient.open(server.port)
            #expect(await client.receiveClose() == 1000)
            await client.connection.close()
        }
    }

    @Test func `a reader that falls behind loses its socket`() async throws {
        try await TestServer.run(configure: { $0.slowReaderBytes = 100_000 }) { server in
            let connection = try await RawClient.connect(server.port, autoRead: false)
            try await connection.send(WebSocketClient.handshake())
            await server.switchboard.wait { $0.contains(.opened(joe, channel)) }
            let socket = try #require(await server.switchboard.socket)
            // Kernel buffers take a few megabytes before anything is owed.
            let sdp = String(repeating: "v", count: 50_000)
            for id in 1...400 { server.sockets.transmit(frame(UInt64(id), sdp: sdp), to: socket) }
            await server.switchboard.wait { $0.last == .closed(joe, channel) }
            #expect(server.metrics.webSocketsClosed[.tooSlow].value == 1)
            await connection.close()
        }
    }

    @Test func `a notification larger than what may wait says nothing about a reader that has read everything`()
        async throws
    {
        try await TestServer.run(configure: { $0.slowReaderBytes = 10_000 }) { server in
            let (client, socket) = try await open(server)
            for id in [1, 2] as [UInt64] {
                server.sockets.transmit(frame(id, sdp: String(repeating: "v", count: 50_000)), to: socket)
                #expect(await client.receive()?.payload.count ?? 0 > 50_000)
            }
            #expect(server.metrics.webSocketsClosed[.tooSlow].value == 0)
            await client.connection.close()
        }
    }

    /// It has come back, and is sent in one go what it missed.
    @Test func `a reader that goes on reading may be owed more than what may wait for one that does not`() async throws
    {
        try await TestServer.run(configure: {
            $0.slowReaderBytes = 1_000_000
            $0.confirmation.count = 1_000
        }) { server in
            let (client, socket) = try await open(server)
            let sdp = String(repeating: "v", count: 500_000)
            for id in 1...20 { server.sockets.transmit(frame(UInt64(id), sdp: sdp), to: socket) }
            for _ in 1...20 { #expect(await client.receive()?.payload.count ?? 0 > 500_000) }
            #expect(server.metrics.webSocketsClosed[.tooSlow].value == 0)
            await client.connection.close()
        }
    }

    @Test func `a reader that reads nothing of what it missed loses its socket, although no more is sent`() async throws
    {
        try await TestServer.run(configure: { $0.slowReaderBytes = 1_000_000 }) { server in
            let connection = try await RawClient.connect(server.port, autoRead: false)
            try await connection.send(WebSocketClient.handshake())
            await server.switchboard.wait { $0.contains(.opened(joe, channel)) }
            let socket = try #require(await server.switchboard.socket)
            let sdp = String(repeating: "v", count: 500_000)
            for id in 1...24 { server.sockets.transmit(frame(UInt64(id), sdp: sdp), to: socket) }
            await server.switchboard.wait { $0.last == .closed(joe, channel) }
            #expect(server.metrics.webSocketsClosed[.tooSlow].value == 1)
            await connection.close()
        }
    }

    @Test func `a silent client is asked, then given up`() async throws {
        try await TestServer.run(configure: {
            $0.channelIdleTimeout = .milliseconds(60)
            $0.channelCloseTimeout = .milliseconds(30)
        }) { server in
            let (client, _) = try await open(server)
            #expect(await client.receive()?.opcode == Frame.ping)
            #expect(await client.receive()?.closeCode == 1008)
            #expect(await client.receive() == nil)
            await server.switchboard.wait { $0.last == .closed(joe, channel) }
            #expect(server.metrics.webSocketsClosed[.silent].value == 1)
        }
    }

    @Test func `half a connection is no channel`() async throws {
        try await TestServer.run { server in
            let (client, _) = try await open(server)
            try await client.connection.finishSending()
            await server.switchboard.wait { $0.last == .closed(joe, channel) }
        }
    }

    @Test func `shutdown closes every channel with 1001 and ends idle connections`() async throws {
        try await TestServer.run(configure: { $0.channelCloseTimeout = .milliseconds(50) }) { server in
            let (client, _) = try await open(server)
            let silent = try await RawClient.connect(server.port)
            let idle = try await RawClient.connect(server.port)
            try await idle.send(TestServer.text("GET", "/health", as: nil))
            _ = await idle.read(until: HTTPText.length)
            await server.shutDown()
            #expect(await client.receiveClose() == 1001)
            #expect(await silent.readToEnd().isEmpty)
            #expect(await idle.readToEnd().isEmpty)
            #expect(server.service.isDraining)
        }
    }
}
