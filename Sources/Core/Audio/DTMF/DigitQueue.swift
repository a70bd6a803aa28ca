/// DTMF digits that wait to be sent one after the other, in steps of 20 ms (RFC 4733 §2.5.1).
///
/// The last digit may be one that another peer still presses. Its length is reported while it grows. It ends when that
/// peer releases it, or when no news of it has come for `patience`; then it has the length that was reported last.
///
/// Digits arrive as fast as a sender likes, and leave at the speed at which digits are pressed, so the queue is
/// bounded. A digit or a sequence of digits that finds no room is dropped as a whole.
package struct DigitQueue: Sendable {
    /// 20 ms of a DTMF digit: one telephone event packet, or the same as tones.
    package struct Step: Equatable, Sendable {
        /// The digit: `0`…`9`, `A`…`D`, `*` or `#`.
        package var digit: Character
        /// Samples of 48 kHz since the digit was pressed, including the part of this step that belongs to the digit; at
        /// least 1.
        package var length: Int
        /// The step is the first of its digit. The first packet of the event has the marker bit.
        package var isFirst: Bool
        /// The digit has ended: the packet has the E bit (RFC 4733 §2.3.2).
        package var isEnd: Bool
        /// The final packet is sent three times (RFC 4733 §2.5.1.4), and this is the third.
        package var isLast: Bool
        /// The phase of both tones at the start of this step.
        fileprivate var oscillators: (low: Oscillator, high: Oscillator)

        /// Compares everything but the phase of the tones.
        package static func == (a: Self, b: Self) -> Bool {
            a.digit == b.digit && a.length == b.length && a.isFirst == b.isFirst && a.isEnd == b.isEnd
                && a.isLast == b.isLast
        }

        /// Makes the step as two tones (ITU-T Q.23), for peers without telephone events. The repetitions of the final
        /// packet are silent.
        package func sound(into samples: inout MutableSpan<Int16>) {
            var (low, high) = oscillators
            for index in samples.indices {
                samples[index] = isEnd ? 0 : Int16(sample: (low.next() * 0.2 + high.next() * 0.25) * 32_767)
            }
        }
    }

    /// What the next 20 ms are used for.
    package enum Output: Equatable, Sendable {
        /// A DTMF digit sounds.
        case event(Step)
        /// Audio is sent in this step, because a pause between digits runs.
        case pause
        /// The queue is empty, and audio is sent.
        case done
    }

    /// The most digits and pauses that wait, including the one that is being sent; one request may ask for as many.
    package static let capacity = 128
    /// A digit pressed by another peer is refused while so many wait: half a minute of digits, pressed fast.
    package static let followedCapacity = 64
    /// How long a held digit goes on without news of it: four of the longest intervals between packets (RFC 4733
    /// §2.5.1.2: 50 ms).
    package static let patience = Duration.milliseconds(200)

    // All lengths are in samples of 48 kHz.
    private static let step = 960
    /// The length of the pause that a comma stands for.
    private static let longPause = 2_000 * 48
    private static let endRepetitions = 3
    private static let stepsOfPatience = 10

    private struct Entry {
        var digit: Character
        var duration: Int
        var gap: Int
        /// Another peer still presses it: it may become longer.
        var isHeld = false
    }

    private var entries: [Entry]
    private var elapsed = 0
    private var endings = 0
    /// Steps without news of the digit that is held.
    private var stepsWithoutNews = 0
    private var pause = 0
    private var oscillators: (low: Oscillator, high: Oscillator)?

    /// Digits that are all known at once, with equal lengths.
    ///
    /// - Parameters:
    ///   - digits: `0…9 A…D * #`, and `,` for a pause of two seconds. Other characters trap when they are due.
    ///   - duration: The length of each digit.
    ///   - gap: The pause after each digit.
    package init(_ digits: String, duration: Duration, gap: Duration) {
        let (duration, gap) = (Int(duration.inSamples), Int(gap.inSamples))
        entries = digits.map { Entry(digit: $0, duration: duration, gap: gap) }
    }

    /// An empty queue.
    package init() { entries = [] }

    /// The number of digits and pauses that wait, including the one that is being sent.
    package var count: Int { entries.count }

    /// Appends all digits of `other`. Returns `false`, and appends none, if there is no room for all of them.
    package mutating func append(_ other: DigitQueue) -> Bool {
        guard entries.count + other.entries.count <= Self.capacity else { return false }
        entries += other.entries
        return true
    }

    /// Appends a digit that another peer presses, or changes its length, as `DigitReception` reports it.
    ///
    /// Returns `false` if a new digit finds no room. Later changes of a digit that found no room are ignored.
    package mutating func follow(_ change: DigitReception.Change) -> Bool {
        let held = entries.lastIndex(where: \.isHeld)
        stepsWithoutNews = 0
        switch change {
        case .started(let digit, let length, let isEnd):
            if let held { entries[held].isHeld = false }
            guard entries.count < Self.followedCapacity else { return false }
            // The next digit follows when the peer presses it, so no gap is added.
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

    /// Whether the next 20 ms belong to a pause between digits.
    package var isPausing: Bool { pause > 0 }

    /// Advances by 20 ms, and returns what they are used for.
    package mutating func next() -> Output {
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
        guard let current = oscillators else { preconditionFailure("a digit has its sound") }
        if entry.isHeld {
            stepsWithoutNews += 1
            entries[0].isHeld = stepsWithoutNews < Self.stepsOfPatience
        }
        // A digit has at least one step, however short it is.
        if isFirst || elapsed < entry.duration || entries[0].isHeld {
            elapsed += Self.step
            defer { advanceSound() }
            // The length of a held digit is not reported beyond what is known of it.
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
            // The repetitions of the final packet have taken a part of the gap.
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
