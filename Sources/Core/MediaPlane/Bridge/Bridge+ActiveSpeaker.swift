package import Primitives
import SDP

/// What those see who hear a mix: of video there is none, so each of them sees one other leg of it.
extension Bridge {
    /// Everybody in the mix sees who speaks. Who speaks, and everybody while that one has no video, sees whom it saw before, or else
    /// the first of the others: rather somebody than nobody.
    ///
    /// A leg is in the mix while its audio is: whatever else is played to it meanwhile, its picture stays. Whoever sees another one
    /// than before begins with a key frame; saying it again changes nothing.
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
    /// Its peer may send video.
    fileprivate var showsItself: Bool { lines.contains { $0.kind == .video && $0.direction.receives } }
}
