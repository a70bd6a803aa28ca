package import Cryptography
import EventLoops
import Logging
import NIOPosix

/// Runs the slow password hash on a few threads of its own, never on an event loop or the shared executor.
///
/// The threads make way for all others: however many passwords are checked, media comes first.
package final class PasswordVerifier: Sendable {
    private let pool: NIOThreadPool

    package init(threads: Int) {
        pool = NIOThreadPool(numberOfThreads: threads)
        pool.start()
    }

    /// Whether the password belongs to the record; a record that cannot be read belongs to no password. Throws when that cannot be found
    /// out: the hash needs tens of megabytes.
    package func verify(_ password: String, against record: String) async throws -> Bool {
        try await pool.runIfActive {
            ThreadPriority.makeWay()
            return try PasswordHash(parsing: record)?.verifies(password) ?? false
        }
    }

    /// A record like those of real users, for names that do not exist: their answer must take as long.
    package func makeDecoy(_ cost: PasswordHash.Cost) async throws -> String {
        try await pool.runIfActive {
            var random = SecureRandomSource()
            return try PasswordHash(of: "", cost: cost, random: &random).text
        }
    }

    /// Refuses what still waits and ends the threads.
    package func shutdown() async {
        // Fails only when it was shut down before.
        try? await pool.shutdownGracefully()
    }
}
