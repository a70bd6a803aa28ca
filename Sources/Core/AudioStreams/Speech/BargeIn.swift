/// A reversible barge-in: playback pauses when the caller starts to speak, and goes on unless the bot confirms.
///
///     idle ── speech over playback ──▶ (pause) deciding ── clear or pause of the bot ──▶ idle
///                                                 └── resume of the bot, or no decision in time ──▶ (resume) idle
package struct BargeIn: Equatable, Sendable {
    /// What can be tuned.
    package struct Configuration: Equatable, Sendable {
        /// The permitted times for the bot to decide, in milliseconds.
        package static let decisions = 100...10_000
        /// The time for the bot to decide, in milliseconds; a multiple of 20 is counted.
        package var decision: Int

        /// Makes a configuration; a time out of range is clamped.
        package init(decision: Int = 1_500) {
            self.decision = min(max(decision, Self.decisions.lowerBound), Self.decisions.upperBound)
        }
    }

    /// What follows for playback.
    package enum Action: Equatable, Sendable {
        /// It pauses.
        case pause
        /// It goes on, because the bot did not decide.
        case resume
    }

    private let configuration: Configuration
    /// Milliseconds left to decide; `nil`: nothing is to be decided.
    private var left: Int?

    /// Starts with nothing to decide.
    package init(_ configuration: Configuration) { self.configuration = configuration }

    /// Whether playback is paused by itself, and the bot has to decide.
    package var isDeciding: Bool { left != nil }

    /// The caller has started to speak.
    ///
    /// - Parameter isPlaying: whether audio of the bot plays or waits, and is not paused.
    package mutating func speechStarted(isPlaying: Bool) -> Action? {
        guard isPlaying, left == nil else { return nil }
        left = configuration.decision
        return .pause
    }

    /// The bot has decided, whatever it was: it cleared, paused or resumed.
    package mutating func decided() { left = nil }

    /// 20 ms have passed.
    package mutating func tick() -> Action? {
        guard let before = left else { return nil }
        let after = before - StreamFormat.frameMilliseconds
        left = after > 0 ? after : nil
        return after > 0 ? nil : .resume
    }
}
