/// Keys that wait to be pressed one after the other, in steps of 20 ms (RFC 4733 §2.5.1).
package struct DigitQueue: Sendable {
    package struct Step: Equatable, Sendable {
        package var digit: Character
        /// Since the key was pressed, this step included.
        package var milliseconds: Int
        /// The first packet of the event has the marker.
        package var isFirst: Bool
        package var isEnd: Bool
        /// The end is said three times, and this is the last time (RFC 4733 §2.5.1.4).
        package var isLast: Bool
        /// Where in the key's sound this step begins.
        fileprivate var oscillators: (low: Oscillator, high: Oscillator)

        package static func == (a: Self, b: Self) -> Bool {
            a.digit == b.digit && a.milliseconds == b.milliseconds && a.isFirst == b.isFirst && a.isEnd == b.isEnd && a.isLast == b.isLast
        }

        /// The step as sound, for those who know no events (ITU-T Q.23); the repetitions of the end are silent.
        package func sound(into samples: inout MutableSpan<Int16>) {
            var (low, high) = oscillators
            for index in samples.indices {
                samples[index] = isEnd ? 0 : Int16((low.next() * 0.2 + high.next() * 0.25) * 32_767)
            }
        }
    }

    package enum Turn: Equatable, Sendable {
        case event(Step)
        /// Audio goes on for this step.
        case pause
        case done
    }

    private static let step = 20
    /// Of a comma.
    private static let longPause = 2_000
    private static let endRepetitions = 3

    private struct Entry {
        var digit: Character
        var duration: Int
        var gap: Int
    }

    private var entries: [Entry]
    private var elapsed = 0
    private var endings = 0
    private var pause = 0
    private var oscillators: (low: Oscillator, high: Oscillator)?

    /// - Parameters:
    ///   - digits: `0…9 A…D * #` and `,`.
    ///   - duration: of each key, milliseconds.
    ///   - gap: after each key, milliseconds.
    package init(_ digits: String, duration: Int, gap: Int) {
        entries = digits.map { Entry(digit: $0, duration: duration, gap: gap) }
    }

    package mutating func append(_ other: DigitQueue) { entries += other.entries }

    /// Whether the next 20 ms are for audio, whatever comes then.
    package var isPausing: Bool { pause > 0 }

    /// What the next 20 ms are for.
    package mutating func next() -> Turn {
        if pause > 0 {
            pause -= Self.step
            return .pause
        }
        guard let entry = entries.first else { return .done }
        if entry.digit == "," {
            entries.removeFirst()
            pause = Self.longPause - Self.step
            return .pause
        }
        let isFirst = elapsed == 0
        if isFirst { oscillators = Self.oscillators(entry.digit) }
        guard let current = oscillators else { preconditionFailure("a key has its sound") }
        if elapsed < entry.duration {
            elapsed += Self.step
            defer { advanceSound() }
            return .event(Step(digit: entry.digit, milliseconds: elapsed, isFirst: isFirst, isEnd: false, isLast: false, oscillators: current))
        }
        endings += 1
        let isLast = endings == Self.endRepetitions
        let step = Step(digit: entry.digit, milliseconds: elapsed, isFirst: false, isEnd: true, isLast: isLast, oscillators: current)
        if isLast {
            entries.removeFirst()
            (elapsed, endings) = (0, 0)
            // The repetitions have taken a part of the gap.
            pause = max(0, entry.gap - Self.step * Self.endRepetitions)
        }
        return .event(step)
    }

    private mutating func advanceSound() {
        for _ in 0..<960 {
            _ = oscillators?.low.next()
            _ = oscillators?.high.next()
        }
    }

    private static let low: [Double] = [697, 770, 852, 941]
    private static let high: [Double] = [1_209, 1_336, 1_477, 1_633]

    private static func oscillators(_ digit: Character) -> (low: Oscillator, high: Oscillator) {
        let pad: [Character] = ["1", "2", "3", "A", "4", "5", "6", "B", "7", "8", "9", "C", "*", "0", "#", "D"]
        guard let place = pad.firstIndex(of: digit) else { preconditionFailure("digits are checked before they get here") }
        return (Oscillator(frequency: low[place / 4]), Oscillator(frequency: high[place % 4]))
    }
}
