import Sockets

/// How many idempotency keys of each application are in the database. They are counted once, and from then on followed,
/// so that a request need not pass over all of them. It is asked and changed within the writes that it is about.
final class KeyCounts: Sendable {
    private let counts = Lock<[String: Int]>([:])

    /// How many an application has.
    ///
    /// - Parameter ask: counts them in the database.
    func count(of application: String, _ ask: () throws -> Int) throws -> Int {
        if let known = counts.withLock({ $0[application] }) { return known }
        let found = try ask()
        counts.withLock { $0[application] = found }
        return found
    }

    /// So many have come, or with a negative number gone.
    func add(_ change: Int, of application: String) {
        counts.withLock { counts in
            if let known = counts[application] { counts[application] = known + change }
        }
    }

    /// What is in the database may be something else: they are counted again.
    func forget() { counts.withLock { $0.removeAll() } }
}
