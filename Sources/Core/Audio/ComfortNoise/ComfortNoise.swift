/// The content of a comfort noise packet (RFC 3389 §3): level and spectrum of the background noise.
package struct ComfortNoise: Equatable, Sendable {
    /// Further reflection coefficients are ignored, which a receiver may do (RFC 3389 §3.3).
    package static let maximumOrder = 12
    /// Bytes of a payload that describes the level only.
    package static let size = 1

    /// The level of the noise.
    package var level: AudioLevel
    /// The model order: the number of valid elements of `reflections`, 0…12.
    package private(set) var order = 0
    /// Reflection coefficients of the noise spectrum, limited to −0.99…0.99; white noise has none.
    package private(set) var reflections: InlineArray<12, Double> = .init(repeating: 0)

    /// Makes white noise of a level.
    package init(level: AudioLevel) { self.level = level }

    /// Parses a payload; `nil` if it is empty. The first bit of the level is ignored (RFC 3389 §3.1).
    package init?(parsing payload: Span<UInt8>) {
        guard !payload.isEmpty else { return nil }
        level = AudioLevel(decibelsBelow: payload[0] & 0x7F)
        order = min(payload.count - 1, Self.maximumOrder)
        for index in 0..<order {
            // With a coefficient of 1 the filter would never decay to silence.
            reflections[index] = min(max((Double(payload[index + 1]) - 127) * 258 / 32_768, -0.99), 0.99)
        }
    }

    /// Writes the level to the start of `payload`, which has at least `size` bytes; the spectrum is not written.
    package func write(to payload: inout MutableSpan<UInt8>) { payload[0] = level.decibelsBelow }

    /// Whether both have the same spectrum; the levels may differ.
    package func hasColour(of other: Self) -> Bool {
        order == other.order && (0..<order).allSatisfy { reflections[$0] == other.reflections[$0] }
    }

    /// Compares the level and the valid coefficients.
    package static func == (a: Self, b: Self) -> Bool { a.level == b.level && a.hasColour(of: b) }
}
