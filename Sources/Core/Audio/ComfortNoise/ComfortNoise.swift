/// What a packet of comfort noise says (RFC 3389 §3): how loud the background is, and how it is coloured.
package struct ComfortNoise: Equatable, Sendable {
    /// Reflection coefficients beyond these are left out, as a receiver may (RFC 3389 §3.3).
    package static let maximumOrder = 12
    /// The size of a payload that says the level alone.
    package static let size = 1

    package var level: AudioLevel
    /// How many of `reflections` count.
    package private(set) var order = 0
    /// −1…1 each; none is white noise.
    package private(set) var reflections: InlineArray<12, Double> = .init(repeating: 0)

    package init(level: AudioLevel) { self.level = level }

    /// `nil` for an empty payload. The first bit of the level means nothing (RFC 3389 §3.1).
    package init?(parsing payload: Span<UInt8>) {
        guard !payload.isEmpty else { return nil }
        level = AudioLevel(decibelsBelow: payload[0] & 0x7F)
        order = min(payload.count - 1, Self.maximumOrder)
        for index in 0..<order {
            // A filter with a coefficient of 1 would never be silent again.
            reflections[index] = min(max((Double(payload[index + 1]) - 127) * 258 / 32_768, -0.99), 0.99)
        }
    }

    /// Writes the level to the beginning of `payload`.
    package func write(to payload: inout MutableSpan<UInt8>) { payload[0] = level.decibelsBelow }

    /// Whether it sounds the same but for its level.
    package func hasColour(of other: Self) -> Bool {
        order == other.order && (0..<order).allSatisfy { reflections[$0] == other.reflections[$0] }
    }

    package static func == (a: Self, b: Self) -> Bool { a.level == b.level && a.hasColour(of: b) }
}
