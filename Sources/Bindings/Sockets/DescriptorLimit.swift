internal import Glibc

/// The number of files and sockets that this process may have open (getrlimit(2), `RLIMIT_NOFILE`).
package enum DescriptorLimit {
    /// The current soft limit.
    package static var current: Int { Int(clamping: limits.rlim_cur) }

    /// The number of descriptors that are open; 0 if it cannot be determined.
    package static var inUse: Int {
        guard let folder = unsafe opendir("/proc/self/fd") else { return 0 }
        defer { unsafe closedir(folder) }
        var count = 0
        while unsafe readdir(folder) != nil { count += 1 }
        // Neither `.`, `..` nor the folder itself counts.
        return max(0, count - 3)
    }

    /// Raises the soft limit to the hard limit. Returns the limit that is then in force.
    package static func raise() -> Int {
        var limits = limits
        limits.rlim_cur = limits.rlim_max
        // If the kernel refuses, the limit stays as it was.
        _ = unsafe setrlimit(resource, &limits)
        return current
    }

    /// Whether a system call with this errno failed for lack of descriptors or memory, so that it may succeed later.
    package static func isReached(_ code: Int32) -> Bool { [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code) }

    private static var resource: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }

    private static var limits: rlimit {
        var limits = rlimit()
        _ = unsafe getrlimit(resource, &limits)
        return limits
    }
}
