import CallControl
import Sockets

/// How many idempotency keys each application has at most: those that were counted, and those that came since. It does
/// not follow keys that are gone. So what it admits is within the limit; before a refusal the keys are counted again,
/// which need not be done for each request.
final class KeyCounts: Sendable {
    private let counts = Lock<[ApplicationIdentity: Int]>([:])

    /// Adds a key.
    ///
    /// - Returns: `false`: there may be as many as the limit, and they have to be counted.
    func add(of application: ApplicationIdentity, limit: Int) -> Bool {
        counts.withLock { counts in
            guard let known = counts[application], known < limit else { return false }
            counts[application] = known + 1
            return true
        }
    }

    /// So many are in the database. No key is added between the counting and this.
    func set(_ count: Int, of application: ApplicationIdentity) { counts.withLock { $0[application] = count } }
}
