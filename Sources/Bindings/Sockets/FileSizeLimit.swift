internal import Glibc

/// The size that the files of this process may have (setrlimit(2), `RLIMIT_FSIZE`).
package enum FileSizeLimit {
    /// From now on a write beyond the limit fails, as on a full disk. Otherwise the kernel ends the process with
    /// `SIGXFSZ` (signal(7)).
    package static func reportAsError() { _ = signal(SIGXFSZ, SIG_IGN) }
}
