import AudioStreams
import Primitives

/// The bytes as frames that a bot sends on one stream: whatever they are, 20 ms leave with each tick, and a stream that
/// is over says nothing more.
///
/// The first byte says which dialect and format, the second byte of each frame what comes with it. A frame is a byte
/// whose low bit says that it is binary, a byte of length, and so many bytes; a length of 255 is the rest.
package func fuzzStreamFrames(_ bytes: Span<UInt8>) {
    var reader = ByteReader(bytes)
    guard let choice = reader.readUInt8() else { return }
    let names = StreamDialectName.allCases
    let name = names[Int(choice) % names.count]
    let formats = [StreamFormat.muLaw, .standard, .aLaw, .opus].filter(name.carries)
    let format = formats[Int(choice >> 4) % formats.count]
    let start = StreamStart(
        stream: "1", call: "2", application: "3", parameters: ["a": "b"], from: "sip:a@b", to: "sip:c@d", format: format
    )
    var session = StreamSession(
        name, start: start, .init(media: .speech, buffer: .init(capacity: 1), bargeIn: .init(decision: 100)))
    _ = session.socketOpened()
    var heard = 0
    while let kind = reader.readUInt8(), let length = reader.readUInt8() {
        let size = length == 255 ? reader.remaining : min(Int(length), reader.remaining)
        guard let content = reader.readBytes(size) else { return }
        let isBinary = kind & 1 != 0
        let frame = isBinary ? StreamFrame.binary(content) : .text(String(decoding: content, as: UTF8.self))
        let actions = session.received(frame)
        if kind & 2 != 0 {
            session.socketClosed()
            for case .send in session.received(frame) { preconditionFailure("nothing is sent without a socket") }
            _ = session.socketOpened()
        }
        let samples = [Int16](repeating: Int16(kind) << 6, count: format.samplesPerFrame)
        _ = format == .opus ? session.heard(packet: content, samples) : session.heard(samples)
        switch session.tick().playout {
        case .samples(let samples): precondition(samples.count == format.samplesPerFrame, "a frame is 20 ms")
        case .packets, .silence: break
        }
        precondition(session.heardMilliseconds >= heard, "what was heard stays heard")
        precondition(session.status.waiting <= 1_000, "the buffer is bounded")
        heard = session.heardMilliseconds
        if session.isOver {
            precondition(actions.isEmpty || actions.last == .close(.faults), "the end is the last action")
            precondition(
                session.received(frame).isEmpty && session.socketOpened().isEmpty, "a stream that is over is silent")
        }
    }
}
