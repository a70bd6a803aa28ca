package import CallRuntime
package import Logging
import Observability
import Sockets

/// Writes down the logins that a restart shall not forget. It works in the background, so a slow or locked database
/// delays no login.
///
/// If the process is killed, what was noted after the last write is lost. The passwords of those users are checked
/// again.
package final class LoginJournal: Sendable {
    private let repository: any LoginRepository
    private let key: [UInt8]
    private let logger: Logger
    private let unwritten = Lock(RememberedLogins())
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    /// How many notes may wait for a database that does not answer; further ones are dropped.
    private static var limit: Int { 100_000 }

    /// Makes a journal; ``run()`` writes it.
    ///
    /// - Parameter key: the name of the key under which all noted logins were made.
    package init(_ repository: any LoginRepository, under key: [UInt8], logger: Logger) {
        self.repository = repository
        self.key = key
        self.logger = logger
        (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    func note(_ credentials: RememberedLogins.Credentials) {
        unwritten.withLock { if $0.credentials.count < Self.limit { $0.credentials.append(credentials) } }
        wake.yield()
    }

    func note(_ network: RememberedLogins.Network) {
        unwritten.withLock { if $0.networks.count < Self.limit { $0.networks.append(network) } }
        wake.yield()
    }

    /// Writes until ``finish()``, and then what is left.
    package func run() async {
        for await _ in wakes { await write() }
        await write()
    }

    /// Lets ``run()`` write what is left and return.
    package func finish() { wake.finish() }

    private func write() async {
        let batch = unwritten.withLock { notes in
            defer { notes = RememberedLogins() }
            return notes
        }
        if batch.isEmpty { return }
        do throws(StorageError) {
            try await repository.remember(batch, under: key)
        } catch {
            // Logins go on; after a restart these users' passwords are checked again.
            logger.warning(
                "logins could not be written",
                metadata: [LogKey.error: "\(error)", LogKey.count: "\(batch.credentials.count)"])
        }
    }
}
