import MediaPlane
import Primitives

/// Whose media comes over which path: a valid check claims a path in `PathClaims`, whose `admission(over:)` decides
/// for a `MediaWorker` as well. Packets here are not encrypted: in place of the keys of a leg stands that DTLS has
/// authenticated its peer. No leg of a rig claims the path of another one.
///
/// A rig that keeps its paths here tests the type that ships. It shows every action of a session to `follow`.
struct MediaGate {
    private var paths = PathClaims<LegPlace<LegIndex>>()

    /// What a session made of a check that came over this path.
    mutating func checked(_ path: Path, by leg: LegIndex, _ actions: [SessionAction]) {
        for case .refused in actions { return }
        paths.claim(path, by: Self.number(leg), at: .here(leg))
    }

    /// What a session wants done.
    mutating func follow(_ action: SessionAction, of leg: LegIndex) {
        if case .pathForgotten(let path) = action { paths.withdraw(path, by: Self.number(leg)) }
    }

    /// The leg that a packet of media from this path is for; `nil` if it is nobody's.
    ///
    /// - Parameter sessions: who has keys.
    func leg(for path: Path, among sessions: [LegIndex: PeerSession]) -> LegIndex? {
        switch paths.admission(over: path) {
        case .stray: return nil
        case .here(let leg, _): return sessions[leg]?.isEstablished == true ? leg : nil
        case .contested, .elsewhere: preconditionFailure("each leg is here, and has paths of its own")
        }
    }

    private static func number(_ leg: LegIndex) -> LegNumber { LegNumber(UInt64(leg.rawValue), madeBy: WorkerIndex(0)) }
}
