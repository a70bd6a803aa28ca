import CallControl
import Primitives
import Sockets

/// The legs of applications that the media plane has been asked to release. What it tells of their lists after that
/// comes when their calls do not have them any more, or are over themselves.
///
/// The media plane answers within moments. A leg is forgotten after 10 seconds or, if nothing else departs, later.
final class DepartedLegs: Sendable {
    /// A leg as the owner of its application knows it.
    struct Departed: Sendable {
        let session: SessionID
        let endpoint: EndpointAddress
    }

    private struct Table {
        var recent: [LegAddress: Departed] = [:]
        /// Those of the time before.
        var former: [LegAddress: Departed] = [:]
        /// When the recent ones become former ones.
        var turn = MonotonicTime(nanoseconds: 0)
    }

    private static let memory = Duration.seconds(10)

    private let table = Lock(Table())

    /// Adds a leg. To be called before the media plane is asked to release it.
    func add(_ leg: LegAddress, _ departed: Departed, at now: MonotonicTime) {
        table.withLock { table in
            if now >= table.turn {
                // Whatever is left of a time that is long over is forgotten with it.
                table.former = now < table.turn + Self.memory ? table.recent : [:]
                table.recent = [:]
                table.turn = now + Self.memory
            }
            table.recent[leg] = departed
        }
    }

    /// The leg that had this address; `nil`: none has departed from there lately.
    subscript(leg: LegAddress) -> Departed? { table.withLock { $0.recent[leg] ?? $0.former[leg] } }
}
