internal import Glibc

/// What makes a file appear whole or not at all. Errors say which system call has failed, with its errno.
package enum DurableFile {
    /// Creates an empty file, for its owner only.
    ///
    /// - Throws: `SocketError`; with `EEXIST` if there is a file of that name.
    package static func create(_ path: String) throws(SocketError) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SocketError(latest: "open") }
        close(descriptor)
    }

    /// Returns once what a file or a folder holds is on the disk.
    ///
    /// - Throws: `SocketError` if it cannot be opened, or the disk does not take it.
    package static func sync(_ path: String) throws(SocketError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SocketError(latest: "open") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw SocketError(latest: "fsync") }
    }

    /// Gives a file another name, in place of the file that has it.
    ///
    /// - Throws: `SocketError` if the file system refuses.
    package static func rename(_ path: String, to name: String) throws(SocketError) {
        guard unsafe Glibc.rename(path, name) == 0 else { throw SocketError(latest: "rename") }
    }

    /// Gives a file another name in the same file system.
    ///
    /// - Throws: `SocketError`; with `EEXIST` if a file has that name.
    package static func renameExclusively(_ path: String, to name: String) throws(SocketError) {
        try link(path, to: name)
        guard unsafe unlink(path) == 0 else { throw SocketError(latest: "unlink") }
    }

    /// Gives a file a second name.
    ///
    /// - Throws: `SocketError`; with `EEXIST` if a file has that name.
    package static func link(_ path: String, to name: String) throws(SocketError) {
        guard unsafe Glibc.link(path, name) == 0 else { throw SocketError(latest: "link") }
    }

    /// Removes a file, if there is one.
    ///
    /// - Throws: `SocketError` if the file system refuses.
    package static func remove(_ path: String) throws(SocketError) {
        guard unsafe unlink(path) == 0 || errno == ENOENT else { throw SocketError(latest: "unlink") }
    }
}
