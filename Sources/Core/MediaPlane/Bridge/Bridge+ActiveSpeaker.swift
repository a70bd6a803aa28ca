package import Primitives
import SDP

/// The video of legs that hear a mix. Video is not mixed, so each of them sees one other leg.
extension Bridge {
    /// Shows the speaker to all legs in the mix.
    ///
    /// The speaker itself, and all legs while the speaker has no video, keep the leg that they saw before, or else see
    /// the first other leg with video.
    ///
    /// A leg is in the mix while its audio source is; announcements do not change its video. A leg that sees another
    /// source than before gets a key frame first. Calling this again with the same speaker changes nothing.
    ///
    /// - Parameters:
    ///   - speaker: The leg that speaks; `nil` if none does.
    ///   - now: The time.
    package mutating func showSpeaker(_ speaker: LegIndex?, at now: MonotonicTime) {
        let members = indices.filter { self[$0].audioSource == .mix }
        let visible = members.filter { self[$0].showsItself }
        for leg in members {
            let former = self[leg].videoSource.leg
            let seen =
                [speaker, former].compactMap(\.self).first { $0 != leg && visible.contains($0) }
                ?? visible.first { $0 != leg }
            setSource(seen.map(MediaSource.leg) ?? .silence, of: .video, for: leg, at: now)
        }
    }
}

extension BridgeLeg {
    /// Whether the peer may send video.
    fileprivate var showsItself: Bool { lines.contains { $0.kind == .video && $0.direction.receives } }
}
