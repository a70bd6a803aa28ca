import Opus
import Primitives
import SpeexDSP

/// The least that a leg of a bot takes, by the libraries alone: what the caller says is decoded and resampled for the
/// bot, and what the bot says is resampled and encoded for the caller.
enum BareBot {
    private static let frame = 960

    /// Nanoseconds of CPU for 20 ms in both directions.
    ///
    /// - Parameters:
    ///   - packets: of the caller, in Opus.
    ///   - said: by the bot, at 16,000 samples per second.
    static func nanosecondsPerFrame(_ packets: [[UInt8]], _ said: [Int16]) throws -> Double {
        var decoder = try OpusDecoder(channels: 1)
        var encoder = try OpusEncoder(BareOpus.configuration(1))
        var down = Resampler(from: 48_000, to: 16_000)
        var up = Resampler(from: 16_000, to: 48_000)
        var wide = [Int16](repeating: 0, count: frame)
        var narrow = [Int16](repeating: 0, count: BotSocket.frame)
        var packet = [UInt8](repeating: 0, count: 1_276)
        let count = min(packets.count, said.count / BotSocket.frame)
        let start = ThreadCPUClock.consumed
        for number in 0..<count {
            let received = packets[number]
            var heard = wide.mutableSpan
            _ = try decoder.decode(received.span, into: &heard)
            var small = narrow.mutableSpan
            _ = down.process(wide.span, into: &small)
            let first = number * BotSocket.frame
            var large = wide.mutableSpan
            _ = up.process(said.span.extracting(first..<(first + BotSocket.frame)), into: &large)
            var room = packet.mutableSpan
            _ = try encoder.encode(wide.span, into: &room)
        }
        return (ThreadCPUClock.consumed - start) / .nanoseconds(1) / Double(count)
    }
}
