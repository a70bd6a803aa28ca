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
    /// A wrong password costs at least `cost`, so that the time of the answer does not tell an account with an older,
    /// cheaper record from a name that does not exist.
    ///
    /// - Throws: `PasswordHashError.refused` if the hash cannot be computed, since it needs tens of megabytes;
    ///   `CancellationError` after ``shutdown()``, or if the task is cancelled while the check waits for a thread.
    package func verify(_ password: String, against record: String, atLeast cost: PasswordHash.Cost) async throws
        -> Bool
    {
        try await pool.runIfActive {
            ThreadPriority.lower()
            let hash = PasswordHash(parsing: record)
            if try hash?.verifies(password) == true { return true }
            if let rest = hash.map({ cost.excess(over: $0.cost) }) ?? cost { try PasswordHash.spend(rest) }
            return false
        }
    }

    /// Makes a record: of a password that is hashed anew, or of the same cost as those of real users, for names that do
    /// not exist. The answer to such a name must take as long.
    ///
    /// - Throws: the errors of ``verify(_:against:atLeast:)``.
    package func makeRecord(of password: String, _ cost: PasswordHash.Cost) async throws -> String {
        try await pool.runIfActive {
            ThreadPriority.lower()
            var random = SecureRandomSource()
            return try PasswordHash(of: password, cost: cost, random: &random).text
        }
    }

    /// Refuses the checks that still wait, and ends the threads.
    package func shutdown() async {
        // Fails only after an earlier shutdown.
        try? await pool.shutdownGracefully()
    }
}
