import Foundation

/// A WebSocket as bytes, so that a test can break every rule of RFC 6455.
struct WebSocketClient: Sendable {
    let connection: RawClient

    struct Frame: Equatable, Sendable {
        var opcode: UInt8
        var payload: [UInt8]

        var text: String { String(decoding: payload, as: UTF8.self) }
        /// Of a close frame.
        var closeCode: Int? { payload.count >= 2 ? Int(payload[0]) << 8 | Int(payload[1]) : nil }

        static let text: UInt8 = 1
        static let binary: UInt8 = 2
        static let close: UInt8 = 8
        static let ping: UInt8 = 9
        static let pong: UInt8 = 10
    }

    static let path = "/rest/version/1/user/joe@example.com/websocket/ws-7d0e"

    /// The key and the answer to it are the example of RFC 6455 §1.3.
    static func handshake(_ path: String = path, version: Int = 13) -> String {
        [
            "GET \(path) HTTP/1.1", "Host: localhost", "Connection: keep-alive, Upgrade", "Upgrade: WebSocket",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: \(version)", "", "",
        ].joined(separator: "\r\n")
    }

    /// Opens a channel; the connection comes back with the server's answer.
    static func open(_ port: Int, path: String = path) async throws -> (WebSocketClient, HTTPText) {
        let connection = try await RawClient.connect(port)
        try await connection.send(handshake(path))
        let head = await connection.read(until: HTTPText.headLength) ?? []
        return (WebSocketClient(connection: connection), HTTPText(head))
    }

    func send(_ opcode: UInt8, _ payload: [UInt8] = [], fin: Bool = true, masked: Bool = true, reserved: Bool = false)
        async throws
    {
        var bytes: [UInt8] = [(fin ? 0x80 : 0) | (reserved ? 0x40 : 0) | opcode]
        let maskBit: UInt8 = masked ? 0x80 : 0
        if payload.count < 126 {
            bytes.append(maskBit | UInt8(payload.count))
        } else {
            bytes += [maskBit | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        }
        let mask: [UInt8] = [1, 2, 3, 4]
        bytes += masked ? mask + payload.enumerated().map { $1 ^ mask[$0 % 4] } : payload
        try await connection.send(bytes)
    }

    /// The next frame; `nil` if the connection ends.
    func receive() async -> Frame? {
        guard let bytes = await connection.read(until: { Self.frame(in: $0)?.end }) else { return nil }
        return Self.frame(in: bytes)?.frame
    }

    /// Skips what comes before, such as pings.
    func receiveClose() async -> Int? {
        while let frame = await receive() {
            if frame.opcode == Frame.close { return frame.closeCode }
        }
        return nil
    }

    private static func frame(in bytes: [UInt8]) -> (frame: Frame, end: Int)? {
        guard bytes.count >= 2 else { return nil }
        let short = Int(bytes[1] & 0x7F)
        let (start, length): (Int, Int)
        switch short {
        case 126:
            guard bytes.count >= 4 else { return nil }
            (start, length) = (4, Int(bytes[2]) << 8 | Int(bytes[3]))
        case 127:
            guard bytes.count >= 10 else { return nil }
            (start, length) = (10, bytes[2..<10].reduce(0) { $0 << 8 | Int($1) })
        default:
            (start, length) = (2, short)
        }
        guard bytes.count >= start + length else { return nil }
        return (Frame(opcode: bytes[0] & 0x0F, payload: Array(bytes[start..<start + length])), start + length)
    }
}
