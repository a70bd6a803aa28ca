import Primitives

extension ValueFormat<Duration> {
    static func duration(_ range: ClosedRange<Duration>) -> Self {
        Self(
            "a duration from \(range.lowerBound.configurationText) to \(range.upperBound.configurationText) (500ms, 30s, 5m, 1h, 1d)",
            parseText: { Duration(configurationText: $0).flatMap { range.contains($0) ? $0 : nil } },
            writeText: { $0.configurationText })
    }
}

extension Duration {
    private static let units: [(suffix: String, milliseconds: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
    ]

    /// Reads a whole number and a unit with nothing between them.
    fileprivate init?(configurationText text: String) {
        let digits = text.prefix { ("0"..."9").contains($0) }
        guard let unit = Self.units.first(where: { $0.suffix == text.dropFirst(digits.count) }),
            let count = Int64(digits)
        else { return nil }
        let (milliseconds, overflow) = count.multipliedReportingOverflow(by: unit.milliseconds)
        guard !overflow else { return nil }
        self = .milliseconds(milliseconds)
    }

    /// The duration in the largest unit that leaves a whole number.
    fileprivate var configurationText: String {
        let milliseconds = wholeNanoseconds / 1_000_000
        guard milliseconds != 0, let unit = Self.units.first(where: { milliseconds % $0.milliseconds == 0 }) else {
            return "0s"
        }
        return "\(milliseconds / unit.milliseconds)\(unit.suffix)"
    }
}
