package import CallRuntime
import Foundation
package import Logging
import Observability
import Primitives
import Sockets

/// The file with the keys of tokens, which is read again when it changes.
///
/// Whether it has changed is looked at once per ``interval`` at most, and only if a token comes. A file that cannot be
/// used leaves the former keys in force.
package final class TokenKeyFile: Sendable {
    /// The largest file that is read, in bytes.
    package static let sizeLimit = 1 << 20
    /// The time between two looks at the file.
    package static let interval = Duration.seconds(1)

    private let path: String
    private let clock: any RuntimeClock
    private let logger: Logger
    private let state: Lock<State>

    private struct State: Sendable {
        var keys: TokenKeySet
        /// The stamp of the file when it was last read, or could not be read.
        var stamp: Stamp?
        var checked: MonotonicTime
    }

    /// What tells one state of the file from another.
    private struct Stamp: Equatable, Sendable {
        /// Without links, of which one may be given another end.
        var path: String
        var inode: Int
        var modified: Date
        var size: Int
        var permissions: Int
    }

    /// Reads the file for the first time.
    ///
    /// - Throws: what is wrong with the file.
    package init(_ path: String, clock: any RuntimeClock, logger: Logger) throws(TokenKeySetError) {
        self.path = path
        self.clock = clock
        self.logger = logger
        let stamp = Self.stamp(of: path)
        let keys = try Self.read(path, stamp)
        state = Lock(State(keys: keys, stamp: stamp, checked: clock.now))
        report(keys, stamp)
    }

    /// The keys in a file.
    ///
    /// - Throws: what is wrong with the file.
    package static func keys(in path: String) throws(TokenKeySetError) -> TokenKeySet {
        try read(path, stamp(of: path))
    }

    /// The keys in force.
    package func keys() -> TokenKeySet {
        state.withLock { state in
            let now = clock.now
            guard now - state.checked >= Self.interval else { return state.keys }
            state.checked = now
            let stamp = Self.stamp(of: path)
            guard stamp != state.stamp else { return state.keys }
            state.stamp = stamp
            do throws(TokenKeySetError) {
                state.keys = try Self.read(path, stamp)
                report(state.keys, stamp)
            } catch {
                logger.warning(
                    "the file with the keys of tokens cannot be used, the former keys stay",
                    metadata: [LogKey.path: "\(path)", LogKey.error: "\(error)"])
            }
            return state.keys
        }
    }

    private func report(_ keys: TokenKeySet, _ stamp: Stamp?) {
        logger.info("keys of tokens read", metadata: [LogKey.path: "\(path)", LogKey.count: "\(keys.count)"])
        for reason in keys.unused {
            logger.warning(
                "a key of tokens is not used", metadata: [LogKey.path: "\(path)", LogKey.reason: "\(reason)"])
        }
        if keys.hasSecrets, let stamp, stamp.permissions & 0o077 != 0 {
            logger.warning("others may read the secret keys of tokens", metadata: [LogKey.path: "\(path)"])
        }
    }

    /// `nil`: there is no such file, or it cannot be looked at, which `read` reports.
    private static func stamp(of path: String) -> Stamp? {
        let resolved = URL(filePath: path).resolvingSymlinksInPath().path(percentEncoded: false)
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: resolved),
            let modified = attributes[.modificationDate] as? Date
        else { return nil }
        let number = { (key: FileAttributeKey) in (attributes[key] as? NSNumber)?.intValue ?? 0 }
        return Stamp(
            path: resolved, inode: number(.systemFileNumber), modified: modified, size: number(.size),
            permissions: number(.posixPermissions))
    }

    private static func read(_ path: String, _ stamp: Stamp?) throws(TokenKeySetError) -> TokenKeySet {
        guard let stamp, stamp.size <= sizeLimit, let bytes = FileManager.default.contents(atPath: path) else {
            throw .unreadable
        }
        return try TokenKeySet(parsing: Array(bytes))
    }
}
