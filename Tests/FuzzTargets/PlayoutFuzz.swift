import Audio
import Primitives
import RTP

/// The bytes as the packets of a stream, early, late, lost, of any length, with comfort noise between, and as time:
/// what is pulled is a frame, always.
///
/// The decoder does what its payloads say: they are of another length than announced, damaged, or carry redundancy.
package func fuzzPlayout(_ bytes: Span<UInt8>) {
    var reader = ByteReader(bytes)
    guard let first = reader.readUInt8() else { return }
    var playout = AudioPlayout(channels: first & 1 == 0 ? 1 : 2)
    var decoder = ScriptedDecoder(channels: first & 1 == 0 ? 1 : 2)
    let clockRate = [8_000, 16_000, 48_000, 24_000][Int(first >> 6)]
    var frame = [Int16](repeating: 0, count: 960 * decoder.channels)
    var now = MonotonicTime(nanoseconds: 1_000_000_000_000)
    var (number, timestamp) = (SequenceNumber(0), RTPTimestamp(0))
    var played: UInt64 = 0
    var steps = 0
    while let step = reader.readUInt8(), steps < 200 {
        steps += 1
        let argument = Int(step >> 3)
        switch step % 8 {
        case 0:  // time goes by
            now = now + .milliseconds(argument)
        case 1:  // numbers jump
            number = number + (argument - 16) * 5
        case 2:  // timestamps jump
            guard let ticks = reader.readUInt32() else { return }
            timestamp = timestamp + Int(Int32(bitPattern: ticks))
        case 3 where argument == 31:
            playout.restart()
            decoder.reset()
        case 3, 4:  // comfort noise
            guard let payload = reader.readBytes(min(argument % 14, reader.remaining)) else { return }
            playout.insertNoise(payload.span, number: number, timestamp: timestamp, clockRate: clockRate, at: now)
            number = number + 1
            timestamp = timestamp + clockRate / 50
        case 5, 6:  // audio
            guard let payload = reader.readBytes(min(argument % 4, reader.remaining)) else { return }
            if let count = decoder.sampleCount(of: payload.span) {
                playout.insert(
                    payload.span, number: number, timestamp: timestamp, clockRate: clockRate, sampleCount: count,
                    at: now)
                timestamp = timestamp + count * clockRate / 48_000
            }
            number = number + 1
        default:  // it is played
            for _ in 0...(argument % 4) {
                var span = frame.mutableSpan
                let isHeard = playout.pull(into: &span, using: &decoder, at: now)
                if isHeard { played += 960 }
                now = now + .milliseconds(20)
            }
        }
        precondition(playout.statistics.played == played, "each pull is a frame")
        precondition(
            playout.depth >= .zero && playout.target <= .milliseconds(400), "what is held back can be told")
    }
}

/// What the first byte of a payload says: how many samples it announces, and how many it makes of them or whether none.
private struct ScriptedDecoder: AudioDecoder, ~Copyable {
    let channels: Int
    private var noise = NoiseGenerator()

    init(channels: Int) { self.channels = channels }

    func sampleCount(of payload: Span<UInt8>) -> Int? {
        payload.isEmpty ? nil : [6, 120, 240, 480, 960, 1_920, 2_880, 5_760][Int(payload[0] & 7)]
    }

    func carriesRedundancy(_ payload: Span<UInt8>) -> Bool { payload[0] & 0x80 != 0 }

    mutating func decode(_ payload: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(AudioCodecError) -> Int
    {
        guard payload[0] & 0x70 != 0x70, let announced = sampleCount(of: payload) else { throw .malformed }
        let count = payload[0] & 0x70 == 0x60 ? 5_760 : payload[0] & 0x70 == 0x50 ? 0 : announced
        guard samples.count >= count * channels else { throw .noRoom }
        for index in 0..<(count * channels) { samples[index] = index & 64 == 0 ? .max : .min }
        return count
    }

    mutating func recover(from payload: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(AudioCodecError) {
        if payload[0] & 0x08 != 0 { throw .failed(-1) }
        for index in samples.indices { samples[index] = -1 }
    }

    mutating func conceal(into samples: inout MutableSpan<Int16>) {
        precondition((samples.count / channels).isMultiple(of: 120), "codecs conceal blocks of 2.5 ms")
        for index in samples.indices { samples[index] = 0 }
    }

    mutating func makeNoise(_ sound: ComfortNoise, into samples: inout MutableSpan<Int16>) {
        noise.fill(&samples, with: sound)
    }

    mutating func reset() {}
}
