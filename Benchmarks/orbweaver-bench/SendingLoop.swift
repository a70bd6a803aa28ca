import ArgumentParser
import Glibc
import RelayBaseline

/// What the kernel takes to send datagrams of 172 bytes over loopback to many addresses in turns.
struct SendingLoop {
    /// How datagrams leave.
    enum Call: String, CaseIterable {
        /// Dozens with one system call.
        case sendmmsg
        /// One by one.
        case sendto
    }

    /// Bytes of a datagram.
    static let size = 172
    /// The most addresses.
    static let maximumDestinations = 5_000

    let call: Call
    /// How many addresses there are.
    let destinations: Int

    /// Nanoseconds of CPU of the sending thread per datagram.
    ///
    /// - Parameters:
    ///   - packets: The least number of datagrams that are counted.
    ///   - mayFragment: `false`: with IP_PMTUDISC_DO, as the gateway sends; `true`: with IP_PMTUDISC_WANT.
    /// - Throws: `ValidationError` if the kernel refuses.
    func measure(packets: Int, mayFragment: Bool) throws -> Double {
        var result = sending_baseline_result()
        let status = unsafe sending_baseline_run(
            mayFragment ? 1 : 0, call == .sendto ? 1 : 0, UInt32(destinations), Self.size, UInt64(packets), &result)
        guard status == 0 else { throw ValidationError("\(call.rawValue) has failed: error \(errno)") }
        return Double(result.cpu_ns) / Double(result.packets)
    }
}
