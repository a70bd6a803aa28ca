package import Cryptography
import Logging
import NIOPosix
import Sockets

/// Runs the slow password hash on threads of its own, never on an event loop or the shared executor.
///
/// The threads have the lowest priority: media comes first, however many passwords are checked.
package final class PasswordVerifier: Sendable {
    private let pool: NIOThreadPool

    /// Starts the threads.
    ///
    /// - Parameter threads: how many hashes are computed at the same time, at least 1.
    package init(threads: Int) {
        pool = NIOThreadPool(numberOfThreads: threads)
        pool.start()
    }

    /// Whether the password belongs to the stored record. A record that cannot be read belongs to no password.
    ///
    /// - Throws: `PasswordHashError.refused` if the hash cannot be computed, since it needs tens of megabytes;
    ///   `CancellationError` after ``shutdown()``, or if the task is cancelled while the check waits for a thread.
    package func verify(_ password: String, against record: String) async throws -> Bool {
        try await pool.runIfActive {
            ThreadPriority.lower()
            return try PasswordHash(parsing: record)?.verifies(password) ?? false
        }
    }

    /// Makes a record of the same cost as those of real users, for names that do not exist: the answer must take as
    /// long.
    ///
    /// - Throws: the errors of ``verify(_:against:)``.
    package func makeDummy(_ cost: PasswordHash.Cost) async throws -> String {
        try await pool.runIfActive {
            var random = SecureRandomSource()
            return try PasswordHash(of: "", cost: cost, random: &random).text
        }
    }

    /// Refuses the checks that still wait, and ends the threads.
    package func shutdown() async {
        // Fails only after an earlier shutdown.
        try? await pool.shutdownGracefully()
    }
}
