internal import Glibc

/// How threads share the cores.
package enum ThreadPriority {
    /// The nice value of work that can wait: against a thread at 0 the scheduler gives it a tenth of a core's time.
    private static let patient: Int32 = 10

    /// The calling thread gets what others leave over. Cheap, and may be said again.
    ///
    /// On Linux the nice value is a thread's own, and 0 names the calling one (setpriority(2), "C library/kernel
    /// differences").
    package static func makeWay() {
        // Lowering one's own priority is always permitted.
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, patient)
    }
}
