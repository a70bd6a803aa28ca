/// Decides, 20 ms at a time, whether audio is sent or the level of its background alone (RFC 3389 §4).
///
///     audio ──quiet for the hangover──▶ noise: one packet now, one when the level has changed, one now and then
///       ◀────────────anything loud────────┘
package struct SilenceSuppression: Sendable {
    /// When audio counts as background, and how often the background is described.
    package struct Configuration: Equatable, Sendable {
        /// Frames of at most this level are background. It is far below any speech, so that no speech is clipped.
        package var threshold = AudioLevel(decibelsBelow: 60)
        /// Number of background frames that are still sent as audio before transmission stops, because words end
        /// quietly.
        package var hangover = 10
        /// Number of frames after which the level is sent again, because a packet may have been lost.
        package var refresh = 50
        /// Change of the level, in dB, after which it is sent again.
        package var step = 4

        /// Makes the default: −60 dBov, a hangover of 200 ms, a refresh each second, steps of 4 dB.
        package init() {}
    }

    /// What is sent for a frame.
    package enum Verdict: Equatable, Sendable {
        /// The frame is sent as audio.
        case audio
        /// A comfort noise packet of this level is sent.
        case noise(AudioLevel)
        /// No packet is sent: the level described last is still valid.
        case nothing
    }

    private let configuration: Configuration
    private var quietFrames = 0
    private var background = AudioLevel.silence
    /// The level that the peer was sent last, and how many frames ago.
    private var told: (level: AudioLevel, frames: Int)?

    /// Starts in speech, with no background heard.
    package init(_ configuration: Configuration = Configuration()) { self.configuration = configuration }

    /// Decides what to send for the next frame of 20 ms.
    ///
    /// - Parameter level: The level of that frame.
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

    /// Updates the smoothed level of the last few frames.
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
