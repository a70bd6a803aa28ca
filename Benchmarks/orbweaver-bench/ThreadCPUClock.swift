import Glibc

/// The CPU time of the calling thread.
enum ThreadCPUClock {
    /// The CPU time that the calling thread has used since its start.
    static var consumed: Duration {
        var time = timespec()
        let result = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        precondition(result == 0, "Linux has this clock")
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
