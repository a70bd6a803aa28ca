import Opus
import Primitives
import Sockets

/// libopus by itself, set as the gateway sets it.
enum BareOpus {
    private static let frame = 960

    static func encode(_ samples: [Int16]) throws -> [[UInt8]] {
        var encoder = try OpusEncoder()
        var packet = [UInt8](repeating: 0, count: 1_276)
        return try stride(from: 0, through: samples.count - frame, by: frame).map { start in
            var span = packet.mutableSpan
            let count = try encoder.encode(samples.span.extracting(start..<(start + frame)), into: &span)
            return Array(packet[..<count])
        }
    }

    /// Nanoseconds of CPU to encode 20 ms of this and to decode the outcome.
    static func nanosecondsPerFrame(_ samples: [Int16]) throws -> Double {
        var encoder = try OpusEncoder()
        var decoder = try OpusDecoder()
        var packet = [UInt8](repeating: 0, count: 1_276)
        var heard = [Int16](repeating: 0, count: frame)
        let start = ThreadCPUClock.consumed
        for begin in stride(from: 0, through: samples.count - frame, by: frame) {
            var span = packet.mutableSpan
            let count = try encoder.encode(samples.span.extracting(begin..<(begin + frame)), into: &span)
            var room = heard.mutableSpan
            _ = try decoder.decode(packet.span.extracting(0..<count), into: &room)
        }
        return (ThreadCPUClock.consumed - start) / .nanoseconds(1) / Double(samples.count / frame)
    }
}
