internal import Glibc

/// An exclusive lock on a file (flock(2)), which ends with the process at the latest.
package final class FileLock: Sendable {
    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Takes the lock of a file, which is created if it is missing, for its owner only.
    ///
    /// - Returns: `nil` if another process, or another part of this one, holds it.
    /// - Throws: `SocketError` with the errno of open(2) or flock(2).
    package static func take(_ path: String) throws(SocketError) -> FileLock? {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SocketError(latest: "open") }
        let lock = FileLock(descriptor)
        guard flock(descriptor, LOCK_EX | LOCK_NB) != 0 else { return lock }
        guard errno == EWOULDBLOCK else { throw SocketError(latest: "flock") }
        return nil
    }

    /// Gives the lock back.
    package func release() { _ = flock(descriptor, LOCK_UN) }
}
