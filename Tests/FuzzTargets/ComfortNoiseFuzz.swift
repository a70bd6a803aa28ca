import Audio
import Primitives

/// The bytes as descriptions of comfort noise that follow each other again and again: samples are made of all of them,
/// and what was loud leaves nothing behind.
///
/// Each is a byte, whose low half says how long the description is and whose high half for how many samples it holds.
package func fuzzComfortNoise(_ bytes: Span<UInt8>) {
    var noises: [(noise: ComfortNoise, count: Int)] = []
    var reader = ByteReader(bytes)
    while let control = reader.readUInt8(), let payload = reader.readBytes(min(Int(control & 0x0F), reader.remaining)) {
        guard let noise = ComfortNoise(parsing: payload.span) else { continue }
        precondition(noise.order == min(payload.count - 1, ComfortNoise.maximumOrder), "every reflection counts")
        precondition(
            (0..<noise.order).allSatisfy { abs(noise.reflections[$0]) < 1 }, "every filter is stable by itself")
        noises.append((noise, 8 + 2 * Int(control >> 4)))
    }
    guard !noises.isEmpty else { return }
    var generator = NoiseGenerator()
    var samples = [Int16](repeating: 0, count: 40)
    var rounds = max(1, 256 / noises.count)
    while rounds > 0 {
        for (noise, count) in noises {
            var span = samples.mutableSpan
            var part = span._mutatingExtracting(0..<count)
            generator.fill(&part, with: noise)
        }
        rounds -= 1
    }
    var span = samples.mutableSpan
    generator.fill(&span, with: ComfortNoise(level: .silence))
    precondition(samples.allSatisfy { $0 == 0 }, "silence is silent, whatever came before it")
}
