import Primitives

/// What becomes of one recording, 20 ms after 20 ms.
///
///     beep ──▶ recording ⇄ paused ──▶ over
///
/// A pause during the beep ends the beep. What was left out counts neither for the longest length nor as silence.
package struct RecordingCourse: Equatable, Sendable {
    /// Where the recording is.
    package enum State: Equatable, Sendable {
        /// The others hear a tone for so many more cycles of 20 ms; nothing is recorded.
        case beep(Int)
        /// What is heard is recorded.
        case recording
        /// What is heard is left out.
        case paused
        /// Nothing more is recorded.
        case over(RecordingEnd)
    }

    /// The cycles of 20 ms of a beep: 400 ms.
    package static let beepCycles = 20
    /// So many decibels below the loudest level, and everything below, is silence.
    package static let silenceLevel = 50
    /// Samples of 48 kHz in a cycle of 20 ms.
    private static let samplesPerCycle = 960

    /// Where the recording is.
    package private(set) var state: State
    /// How many cycles of 20 ms were recorded.
    package private(set) var recorded = 0
    /// How many of them, up to the last one, were silent.
    private var silent = 0
    /// How many samples of 48 kHz were written.
    private var written = 0
    /// The most cycles of 20 ms.
    private let maximum: Int
    private let silence: Int?

    /// The recording that is asked for, at its start.
    package init(_ request: RecordRequest) {
        state = request.beep ? .beep(Self.beepCycles) : .recording
        maximum = Self.cycles(request.maximum)
        silence = request.silence.map(Self.cycles)
    }

    /// Another 20 ms have passed.
    ///
    /// - Parameter isSilent: whether what was heard in them is silence, as `silenceLevel` has it.
    /// - Returns: whether they are recorded.
    package mutating func pass(isSilent: Bool) -> Bool {
        switch state {
        case .beep(let left):
            state = left > 1 ? .beep(left - 1) : .recording
            return false
        case .paused, .over: return false
        case .recording:
            recorded += 1
            silent = isSilent ? silent + 1 : 0
            if recorded >= maximum {
                state = .over(.maximum)
            } else if let silence, silent >= silence {
                state = .over(.silence)
            }
            return true
        }
    }

    /// Something is to be written. The recording ends when it has no room for it, although fewer cycles have passed:
    /// packets may be ahead of them, and a gateway that is late leaves cycles out.
    ///
    /// - Parameter samples: samples of 48 kHz.
    /// - Returns: whether there is room; if not, there is none for anything else.
    package mutating func write(samples: Int) -> Bool {
        let longest = maximum * Self.samplesPerCycle
        written = min(written, longest) + samples
        guard written > longest else { return true }
        _ = end(.maximum)
        return false
    }

    /// Leaves out what is heard from now on. Returns whether that is a change.
    package mutating func pause() -> Bool {
        switch state {
        case .beep, .recording:
            state = .paused
            silent = 0
            return true
        case .paused, .over: return false
        }
    }

    /// Goes on. Returns whether that is a change.
    package mutating func resume() -> Bool {
        guard state == .paused else { return false }
        state = .recording
        return true
    }

    /// Ends the recording. Returns whether that is a change.
    package mutating func end(_ reason: RecordingEnd) -> Bool {
        if case .over = state { return false }
        state = .over(reason)
        return true
    }

    private static func cycles(_ duration: Duration) -> Int {
        Int((duration.wholeNanoseconds + 19_999_999) / 20_000_000)
    }
}
