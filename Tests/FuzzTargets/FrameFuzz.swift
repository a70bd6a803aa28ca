import ICE
import Primitives

/// The bytes as a stream in pieces: the pieces do not matter, and what is queued comes out as it went in.
///
/// The first byte says how long the pieces are.
package func fuzzFrames(_ bytes: Span<UInt8>) {
    let all = [UInt8](copying: bytes)
    guard let first = all.first else { return }
    let stream = Array(all.dropFirst())
    let whole = read(stream, inPiecesOf: stream.count)
    precondition(
        read(stream, inPiecesOf: Int(first % 7) + 1).elementsEqual(whole, by: ==),
        "frames do not depend on how the bytes arrive")

    var backlog = FrameBacklog(capacity: 4_096)
    for packet in whole { _ = backlog.append(packet.span) }  // what does not fit is left out, whole
    var sent: [UInt8] = []
    while !backlog.isEmpty {
        let count = min(backlog.front.count, Int(first) + 1)
        sent += [UInt8](copying: backlog.front.extracting(0..<count))
        backlog.removeFirst(count)
    }
    let arrived = read(sent, inPiecesOf: sent.count)
    precondition(
        arrived.elementsEqual(whole.prefix(arrived.count), by: ==) || arrived.count < whole.count, "what left arrives")
}

private func read(_ stream: [UInt8], inPiecesOf size: Int) -> [[UInt8]] {
    var reader = FrameReader(maximumLength: 512)
    var room = [UInt8](repeating: 0, count: 512)
    var packets: [[UInt8]] = []
    var start = 0
    while start < stream.count {
        let piece = Array(stream[start..<min(start + size, stream.count)])
        var offset = 0
        do {
            while true {
                var target = room.mutableSpan
                guard let length = try reader.next(in: piece.span, at: &offset, into: &target) else { break }
                packets.append(Array(room[..<length]))
            }
        } catch {
            return packets  // given up: nothing after it counts
        }
        precondition(offset == piece.count, "all input is used")
        start += piece.count
    }
    return packets
}
