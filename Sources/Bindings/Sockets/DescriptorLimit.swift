internal import Glibc

/// How many files and sockets this process may have open (getrlimit(2), `RLIMIT_NOFILE`).
package enum DescriptorLimit {
    /// The limit that holds now.
    package static var current: Int { Int(clamping: limits.rlim_cur) }

    /// How many are open now.
    package static var inUse: Int {
        guard let folder = unsafe opendir("/proc/self/fd") else { return 0 }
        defer { unsafe closedir(folder) }
        var count = 0
        while unsafe readdir(folder) != nil { count += 1 }
        // Neither `.`, `..` nor the folder itself.
        return max(0, count - 3)
    }

    /// Raises the soft limit to the hard one, and says what holds afterwards.
    package static func raise() -> Int {
        var limits = limits
        limits.rlim_cur = limits.rlim_max
        // What the kernel refuses stays as it was.
        _ = unsafe setrlimit(resource, &limits)
        return current
    }

    /// Whether a system call that failed with this errno did so for want of descriptors or memory: it may succeed later.
    package static func isReached(_ code: Int32) -> Bool { [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code) }

    private static var resource: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }

    private static var limits: rlimit {
        var limits = rlimit()
        _ = unsafe getrlimit(resource, &limits)
        return limits
    }
}
