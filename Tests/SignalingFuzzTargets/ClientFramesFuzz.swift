import NIOWebSocket
import Primitives
import SignalingServer

/// The bytes as frames of a client, unmasked: whatever comes, each has a verdict, and what is text is UTF-8.
///
/// A frame is a byte whose low half is the opcode, with a bit for FIN and one each for a missing mask and a reserved
/// bit; a byte with the length of its payload; and the payload.
package func fuzzClientFrames(_ bytes: Span<UInt8>) {
    followLengths([UInt8](copying: bytes))
    readMessages(bytes)
    let sizeLimit = 64
    var frames = ClientFrames(sizeLimit: sizeLimit)
    var message: (bytes: [UInt8], isText: Bool)?
    var reader = ByteReader(bytes)
    while let head = reader.readUInt8(), let length = reader.readUInt8(),
        let payload = reader.readBytes(min(Int(length), reader.remaining)),
        let opcode = WebSocketOpcode(encodedWebSocketOpcode: head & 0x0F)
    {
        let (fin, masked, reserved) = (head & 0x80 != 0, head & 0x40 == 0, head & 0x20 != 0)
        switch frames.receive(opcode, fin: fin, masked: masked, reserved: reserved, payload: payload) {
        case .violation, .closed: return
        case .compressed: preconditionFailure("no frame says that it is compressed")
        case .message: preconditionFailure("no message is to be read")
        case .pong: precondition(opcode == .ping, "only a ping is answered")
        case .alive:
            precondition(masked && !reserved, "clients mask, and no extension was negotiated")
            guard opcode != .pong else { continue }
            precondition((opcode == .continuation) == (message != nil), "a message goes on, or a new one begins")
            message = (bytes: (message?.bytes ?? []) + payload, isText: message?.isText ?? (opcode == .text))
            guard let whole = message else { continue }
            precondition(whole.bytes.count <= sizeLimit, "no message is longer than allowed")
            guard fin else { continue }
            if whole.isText { precondition(String(validating: whole.bytes, as: UTF8.self) != nil, "text is UTF-8") }
            message = nil
        }
    }
}

/// Where messages are read, each is handed out whole, and text is UTF-8.
private func readMessages(_ bytes: Span<UInt8>) {
    let sizeLimit = 64
    var frames = ClientFrames(sizeLimit: sizeLimit, readsMessages: true)
    var pieces: [UInt8] = []
    var reader = ByteReader(bytes)
    while let head = reader.readUInt8(), let length = reader.readUInt8(),
        let payload = reader.readBytes(min(Int(length), reader.remaining)),
        let opcode = WebSocketOpcode(encodedWebSocketOpcode: head & 0x0F)
    {
        let (fin, masked, reserved) = (head & 0x80 != 0, head & 0x40 == 0, head & 0x20 != 0)
        switch frames.receive(opcode, fin: fin, masked: masked, reserved: reserved, payload: payload) {
        case .violation, .closed: return
        case .compressed: preconditionFailure("no frame says that it is compressed")
        case .pong: precondition(opcode == .ping, "only a ping is answered")
        case .alive: if opcode != .pong { pieces += payload }
        case .message(let whole, let isText):
            precondition(fin && whole == pieces + payload, "a message is what its frames were")
            precondition(whole.count <= sizeLimit, "no message is longer than allowed")
            if isText { precondition(String(validating: whole, as: UTF8.self) != nil, "text is UTF-8") }
            pieces = []
        }
    }
}

/// A stream of frames says the same in one piece and byte by byte.
private func followLengths(_ stream: [UInt8]) {
    var whole = FrameLengths()
    let isTaken = whole.follow(stream)
    var pieces = FrameLengths()
    let isTakenInPieces = stream.allSatisfy { pieces.follow(CollectionOfOne($0)) }
    precondition(isTakenInPieces == isTaken, "lengths do not depend on how the bytes arrive")
}
