package import Audio
package import MediaPlane
package import Quality

/// What is told of the audio that legs send.
extension AudioEngine {
    /// The playout counts of the audio that the leg sends; `nil` if it is not decoded.
    package func played(from leg: LegIndex) -> AudioPlayout.Statistics? { receiver(of: leg)?.statistics }
    /// How much of the leg's audio is held back now (`depth`), and how much should be (`target`); `nil` if it is not
    /// decoded.
    package func waiting(from leg: LegIndex) -> (depth: Duration, target: Duration)? {
        receiver(of: leg).map { ($0.depth, $0.target) }
    }
    /// The playout data for the quality rating of the leg's audio; `nil` if it is not decoded.
    package func playoutQuality(of leg: LegIndex) -> StreamQuality.Playout? {
        receiver(of: leg).map {
            StreamQuality.Playout(
                depth: $0.depth, played: $0.statistics.played,
                recovered: $0.statistics.recovered)
        }
    }
    /// The level of the audio that the leg sends; `nil` if it is not decoded.
    package func level(of leg: LegIndex) -> AudioLevel? { receiver(of: leg).map { AudioLevel(of: $0.frame.span) } }
}
