/// Keys that wait to be pressed one after the other, in steps of 20 ms (RFC 4733 §2.5.1).
///
/// The last of them may be one that somebody else still holds down: its length is told as it becomes known, and it ends when he lets it
/// go, or when nothing was heard of it for `patience`. Then it has the length that was told last.
///
/// Keys come as fast as somebody likes to send them, and leave as slowly as keys are pressed: how many wait is bounded. What finds no
/// room is dropped, whole.
package struct DigitQueue: Sendable {
    package struct Step: Equatable, Sendable {
        package var digit: Character
        /// Since the key was pressed, this step included as far as it belongs to the key: samples of 48 kHz.
        package var length: Int
        /// The first packet of the event has the marker.
        package var isFirst: Bool
        package var isEnd: Bool
        /// The end is said three times, and this is the last time (RFC 4733 §2.5.1.4).
        package var isLast: Bool
        /// Where in the key's sound this step begins.
        fileprivate var oscillators: (low: Oscillator, high: Oscillator)

        package static func == (a: Self, b: Self) -> Bool {
            a.digit == b.digit && a.length == b.length && a.isFirst == b.isFirst && a.isEnd == b.isEnd
                && a.isLast == b.isLast
        }

        /// The step as sound, for those who know no events (ITU-T Q.23); the repetitions of the end are silent.
        package func sound(into samples: inout MutableSpan<Int16>) {
            var (low, high) = oscillators
            for index in samples.indices {
                samples[index] = isEnd ? 0 : Int16(sample: (low.next() * 0.2 + high.next() * 0.25) * 32_767)
            }
        }
    }

    package enum Turn: Equatable, Sendable {
        case event(Step)
        /// Audio goes on for this step.
        case pause
        case done
    }

    /// How many keys and pauses wait, the one that is being pressed included: as many as one request may ask for.
    package static let capacity = 128
    /// How many wait at most for another one that somebody else presses: half a minute of keys, pressed fast.
    package static let followedCapacity = 64
    /// How long a key that is held goes on without news of it: four of the longest intervals between packets (RFC 4733 §2.5.1.2: 50 ms).
    package static let patience = Duration.milliseconds(200)

    // All lengths are in samples of 48 kHz.
    private static let step = 960
    /// Of a comma.
    private static let longPause = 2_000 * 48
    private static let endRepetitions = 3
    private static let stepsOfPatience = 10

    private struct Entry {
        var digit: Character
        var duration: Int
        var gap: Int
        /// Somebody holds it: it may become longer.
        var isHeld = false
    }

    private var entries: [Entry]
    private var elapsed = 0
    private var endings = 0
    /// Steps without news of the key that is held.
    private var stepsWithoutNews = 0
    private var pause = 0
    private var oscillators: (low: Oscillator, high: Oscillator)?

    /// - Parameters:
    ///   - digits: `0…9 A…D * #` and `,`.
    ///   - duration: of each key, milliseconds.
    ///   - gap: after each key, milliseconds.
    package init(_ digits: String, duration: Int, gap: Int) {
        entries = digits.map { Entry(digit: $0, duration: duration * 48, gap: gap * 48) }
    }

    /// No keys yet.
    package init() { entries = [] }

    /// Keys and pauses that wait, the one that is being pressed included.
    package var count: Int { entries.count }

    /// Puts keys behind those that wait; whether there was room for all of them. Otherwise none is there.
    package mutating func append(_ other: DigitQueue) -> Bool {
        guard entries.count + other.entries.count <= Self.capacity else { return false }
        entries += other.entries
        return true
    }

    /// A key that somebody else has pressed, behind those that wait: told as `KeyReception` learns of it.
    ///
    /// Returns whether there was room for it. What is told later about one that had none is passed over.
    package mutating func follow(_ change: KeyReception.Change) -> Bool {
        let held = entries.lastIndex(where: \.isHeld)
        stepsWithoutNews = 0
        switch change {
        case .began(let digit, let length, let isEnd):
            if let held { entries[held].isHeld = false }
            guard entries.count < Self.followedCapacity else { return false }
            // The next key follows when it is pressed: there is no gap of our own.
            entries.append(Entry(digit: digit, duration: length, gap: 0, isHeld: !isEnd))
        case .lasts(let length):
            if let held { entries[held].duration = max(entries[held].duration, length) }
        case .ended(let length):
            guard let held else { return true }
            entries[held].duration = max(entries[held].duration, length)
            entries[held].isHeld = false
        }
        return true
    }

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
        if entry.isHeld {
            stepsWithoutNews += 1
            entries[0].isHeld = stepsWithoutNews < Self.stepsOfPatience
        }
        // The first step is there to say that a key was pressed, however short.
        if isFirst || elapsed < entry.duration || entries[0].isHeld {
            elapsed += Self.step
            defer { advanceSound() }
            // What is held is no longer, as far as anybody knows.
            let length = max(1, min(elapsed, entry.duration))
            return .event(
                Step(
                    digit: entry.digit, length: length, isFirst: isFirst, isEnd: false, isLast: false,
                    oscillators: current))
        }
        endings += 1
        let isLast = endings == Self.endRepetitions
        let length = max(1, entry.duration)
        let step = Step(
            digit: entry.digit, length: length, isFirst: false, isEnd: true, isLast: isLast, oscillators: current)
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
        guard let place = pad.firstIndex(of: digit) else {
            preconditionFailure("digits are checked before they get here")
        }
        return (Oscillator(frequency: low[place / 4]), Oscillator(frequency: high[place % 4]))
    }
}
