/// Decides, 20 ms at a time, whether audio is sent or the level of its background alone (RFC 3389 §4).
///
///     audio ──quiet for the hangover──▶ noise: one packet now, one when the level has changed, one now and then
///       ◀────────────anything loud────────┘
package struct SilenceSuppression: Sendable {
    package struct Configuration: Equatable, Sendable {
        /// What is as quiet as this or quieter is background; far below any speech, so that none is clipped.
        package var threshold = AudioLevel(decibelsBelow: 60)
        /// So many frames of background are sent as they are before audio stops: words end quietly.
        package var hangover = 10
        /// The background's level is said again after so many frames: a packet may have been lost.
        package var refresh = 50
        /// It is said again when it has changed by so many dB.
        package var step = 4

        package init() {}
    }

    package enum Verdict: Equatable, Sendable {
        case audio
        /// The background is to be described, at this level.
        case noise(AudioLevel)
        /// What was said before still holds.
        case nothing
    }

    private let configuration: Configuration
    private var quietFrames = 0
    private var background = AudioLevel.silence
    /// What the peer was told last, and how many frames ago.
    private var told: (level: AudioLevel, frames: Int)?

    package init(_ configuration: Configuration = Configuration()) { self.configuration = configuration }

    /// - Parameter level: of the next frame.
    package mutating func next(_ level: AudioLevel) -> Verdict {
        guard level <= configuration.threshold else {
            quietFrames = 0
            told = nil
            return .audio
        }
        follow(level)
        quietFrames += 1
        guard quietFrames > configuration.hangover else { return .audio }
        if let told, told.frames < configuration.refresh, difference(told.level) < configuration.step {
            self.told = (told.level, told.frames + 1)
            return .nothing
        }
        told = (background, 1)
        return .noise(background)
    }

    /// The average of the last few frames.
    private mutating func follow(_ level: AudioLevel) {
        guard quietFrames > 0 else {
            background = level
            return
        }
        background = AudioLevel(
            decibelsBelow: UInt8((3 * Int(background.decibelsBelow) + Int(level.decibelsBelow) + 2) / 4))
    }

    private func difference(_ level: AudioLevel) -> Int {
        abs(Int(level.decibelsBelow) - Int(background.decibelsBelow))
    }
}
