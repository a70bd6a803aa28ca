import FuzzTargets
import ICE
import Primitives
import TestSupport
import Testing

/// RFC 4571 §2.
@Suite struct FramingTests {
    private func frames(_ stream: [UInt8], pieces: Int, maximum: Int = 100) throws -> [[UInt8]] {
        var reader = FrameReader(maximumLength: maximum)
        var packets: [[UInt8]] = []
        for start in stride(from: 0, to: stream.count, by: pieces) {
            let piece = Array(stream[start..<min(start + pieces, stream.count)])
            var offset = 0
            while let packet = try next(&reader, piece, &offset, maximum) { packets.append(packet) }
            #expect(offset == piece.count)
        }
        return packets
    }

    private func next(_ reader: inout FrameReader, _ piece: [UInt8], _ offset: inout Int, _ maximum: Int) throws
        -> [UInt8]?
    {
        var packet = [UInt8](repeating: 0xEE, count: maximum)
        var room = packet.mutableSpan
        return try reader.next(in: piece.span, at: &offset, into: &room).map { Array(packet[..<$0]) }
    }

    @Test(arguments: [1, 2, 3, 5, 7, 100])
    func `frames come out whole however the stream is cut`(pieces: Int) throws {
        let stream: [UInt8] = [0, 3, 1, 2, 3, 0, 0, 0, 1, 9, 0, 5, 4, 5, 6, 7, 8, 0, 2, 1]
        #expect(try frames(stream, pieces: pieces) == [[1, 2, 3], [], [9], [4, 5, 6, 7, 8]])
    }

    @Test(arguments: [1, 64])
    func `the longest frame is taken, a longer one gives the stream up at its length`(pieces: Int) throws {
        let longest = [0, 100] + [UInt8](repeating: 7, count: 100)
        #expect(try frames(longest, pieces: pieces) == [[UInt8](repeating: 7, count: 100)])
        #expect(throws: FramingError.frameTooLong(101)) { try frames([0, 101], pieces: pieces) }
        // A request of HTTP begins with a length of 18,245.
        #expect(throws: FramingError.frameTooLong(18_245)) {
            try frames(Array("GET / HTTP/1.1\r\n\r\n".utf8), pieces: pieces)
        }
    }

    @Test func `a backlog takes frames whole or not at all, and keeps its size`() {
        var backlog = FrameBacklog(capacity: 10)
        #expect(append([1, 2, 3], to: &backlog))
        #expect(!append([1, 2, 3, 4], to: &backlog))
        #expect(append([4, 5, 6], to: &backlog))
        #expect(backlog.count == 10)
        #expect(!append([], to: &backlog))
        #expect(front(of: backlog) == [0, 3, 1, 2, 3, 0, 3, 4, 5, 6])
        backlog.removeFirst(7)
        // Wraps: comes out in two pieces.
        #expect(append([7, 8, 9, 10, 11], to: &backlog))
        #expect(front(of: backlog) == [4, 5, 6])
        backlog.removeFirst(3)
        #expect(front(of: backlog) == [0, 5, 7, 8, 9, 10, 11])
        backlog.removeAll()
        #expect(backlog.isEmpty && front(of: backlog).isEmpty)
    }

    private func append(_ packet: [UInt8], to backlog: inout FrameBacklog) -> Bool { backlog.append(packet.span) }
    private func front(of backlog: FrameBacklog) -> [UInt8] { [UInt8](copying: backlog.front) }

    @Test(arguments: [21, 22, 23] as [UInt64])
    func `whatever comes and however it is cut`(seed: UInt64) {
        print("seed \(seed)")
        var random = SeededRandomSource(seed: seed)
        for _ in 0..<500 {
            var bytes = random.nextBytes(Int.random(in: 0...400, using: &random))
            // Mostly plausible lengths, so that frames come about.
            for index in stride(from: 1, to: bytes.count, by: Int.random(in: 2...40, using: &random)) {
                bytes[index] = 0
            }
            fuzzFrames(bytes.span)
        }
    }
}
