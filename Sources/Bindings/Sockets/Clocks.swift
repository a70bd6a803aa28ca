internal import CLinux
internal import Glibc
package import Primitives

/// The monotonic clock of the kernel, which never goes back (CLOCK_MONOTONIC).
package enum MonotonicClock {
    /// The current time of the monotonic clock.
    package static var now: MonotonicTime { MonotonicTime(nanoseconds: nanoseconds(of: CLOCK_MONOTONIC)) }
}

/// The real-time clock of the system (CLOCK_REALTIME), which administrators set and NTP adjusts.
package enum WallTime {
    /// Nanoseconds since 1970, UTC.
    package static var unixNanoseconds: UInt64 { nanoseconds(of: CLOCK_REALTIME) }
}

/// The CPU time of the calling thread, for benchmarks and for the load of a worker.
package enum ThreadCPUClock {
    /// The CPU time that the calling thread has used since its start.
    package static var consumed: Duration { .nanoseconds(Int64(clamping: nanoseconds(of: CLOCK_THREAD_CPUTIME_ID))) }
}

private func nanoseconds(of clock: clockid_t) -> UInt64 {
    var time = timespec()
    let result = unsafe clock_gettime(clock, &time)
    precondition(result == 0, "Linux has this clock")
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
