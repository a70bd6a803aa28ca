internal import CLinux
internal import Glibc
package import Primitives

/// The monotonic clock of the kernel, which never goes back (CLOCK_MONOTONIC).
package enum MonotonicClock {
    /// The current time of the monotonic clock.
    package static var now: MonotonicTime { MonotonicTime(nanoseconds: nanoseconds(of: CLOCK_MONOTONIC)) }

    /// Blocks the thread until a time (clock_nanosleep(2)); a time in the past does not block. The kernel may add 50 µs
    /// (`PR_SET_TIMERSLACK`).
    package static func sleep(until time: MonotonicTime) {
        var end = timespec(
            tv_sec: Int(time.nanoseconds / 1_000_000_000), tv_nsec: Int(time.nanoseconds % 1_000_000_000))
        while unsafe clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, nil) == EINTR {}
    }
}

/// The processor time of the calling thread (CLOCK_THREAD_CPUTIME_ID).
package enum ThreadClock {
    /// What the calling thread has used so far, in user and kernel mode.
    package static var used: Duration { .nanoseconds(Int64(clamping: nanoseconds(of: CLOCK_THREAD_CPUTIME_ID))) }
}

/// The real-time clock of the system (CLOCK_REALTIME), which administrators set and NTP adjusts.
package enum WallTime {
    /// Nanoseconds since 1970, UTC.
    package static var unixNanoseconds: UInt64 { nanoseconds(of: CLOCK_REALTIME) }

    /// Whether a time server keeps the clock, as far as the kernel has been told (adjtimex(2)); `nil`: unknown.
    package static var isKept: Bool? {
        let result = clinux_clock_is_kept()
        return result < 0 ? nil : result == 1
    }
}

private func nanoseconds(of clock: clockid_t) -> UInt64 {
    var time = timespec()
    let result = unsafe clock_gettime(clock, &time)
    precondition(result == 0, "Linux has this clock")
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
