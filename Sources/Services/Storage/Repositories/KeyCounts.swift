import CallControl
import Sockets

/// How many idempotency keys each application has at most: those that were counted, and those that came since. It does
/// not follow keys that are gone. So what it admits is within the limit; before a refusal the keys are counted again,
/// which is not done for each request.
final class KeyCounts: Sendable {
    /// What is said of a further key.
    enum Admission: Equatable {
        case added
        /// The keys were counted within the last second, and there were as many as the limit.
        ///
        /// - oldest: the time of the first of them.
        case full(oldest: Int64)
        /// There may be as many as the limit. The keys have to be counted.
        case unknown
    }

    private struct Known {
        /// How many were counted.
        let counted: Int
        /// Those, and those that came since.
        var count: Int
        /// When they were counted, in milliseconds since 1970.
        let time: Int64
        let oldest: Int64
    }

    /// Counting a hundred thousand keys takes milliseconds, in which other applications wait. An application that goes
    /// on in spite of a refusal has that done once in this time, in milliseconds.
    private static let interval: Int64 = 1_000

    private let counts = Lock<[ApplicationIdentity: Known]>([:])

    /// Adds a key, if there is room.
    func add(of application: ApplicationIdentity, limit: Int, at now: Int64) -> Admission {
        counts.withLock { counts in
            guard let known = counts[application] else { return .unknown }
            if known.count < limit {
                counts[application]?.count += 1
                return .added
            }
            // Of keys that came since the counting, some may be gone.
            let isKnown = known.counted >= limit && (0..<Self.interval).contains(now - known.time)
            return isKnown ? .full(oldest: known.oldest) : .unknown
        }
    }

    /// So many are in the database, the first of them since `oldest`. No key is added between the counting and this.
    func set(_ count: Int, oldest: Int64, of application: ApplicationIdentity, at now: Int64) {
        counts.withLock { $0[application] = Known(counted: count, count: count, time: now, oldest: oldest) }
    }
}
