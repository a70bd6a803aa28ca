internal import CLinux
internal import Glibc

/// The system's real-time clock (CLOCK_REALTIME), which people set and NTP bends.
package enum WallTime {
    package static var unixNanoseconds: UInt64 {
        var time = timespec()
        let result = unsafe clock_gettime(CLOCK_REALTIME, &time)
        precondition(result == 0, "Linux has this clock")
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
