import Opus
import Primitives

/// libopus by itself, set as the gateway sets it.
enum BareOpus {
    private static let frame = 960

    /// - Parameter channels: of the samples; two are interleaved.
    static func encode(_ samples: [Int16], channels: Int = 1) throws -> [[UInt8]] {
        var encoder = try OpusEncoder(configuration(channels))
        var packet = [UInt8](repeating: 0, count: 1_276)
        return try stride(from: 0, through: samples.count - frame * channels, by: frame * channels).map { start in
            var span = packet.mutableSpan
            let count = try encoder.encode(samples.span.extracting(start..<(start + frame * channels)), into: &span)
            return Array(packet[..<count])
        }
    }

    /// Nanoseconds of CPU to encode 20 ms of this and to decode the outcome.
    static func nanosecondsPerFrame(_ samples: [Int16], channels: Int = 1) throws -> Double {
        let size = frame * channels
        var encoder = try OpusEncoder(configuration(channels))
        var decoder = try OpusDecoder(channels: channels)
        var packet = [UInt8](repeating: 0, count: 1_276)
        var heard = [Int16](repeating: 0, count: size)
        let start = ThreadCPUClock.consumed
        for start in stride(from: 0, through: samples.count - size, by: size) {
            var span = packet.mutableSpan
            let count = try encoder.encode(samples.span.extracting(start..<(start + size)), into: &span)
            var room = heard.mutableSpan
            _ = try decoder.decode(packet.span.extracting(0..<count), into: &room)
        }
        return (ThreadCPUClock.consumed - start) / .nanoseconds(1) / Double(samples.count / size)
    }

    static func configuration(_ channels: Int) -> OpusEncoder.Configuration {
        var configuration = OpusEncoder.Configuration()
        configuration.channels = channels
        return configuration
    }
}
