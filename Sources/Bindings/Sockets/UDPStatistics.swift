internal import Glibc

/// What the kernel counts about UDP in this network namespace (proc_net(5)).
package struct UDPStatistics: Equatable, Sendable {
    /// The datagrams over IPv4 and IPv6 that were dropped because their checksum was wrong.
    package var checksumErrors: UInt64

    /// What the kernel has counted so far. What it does not tell is 0.
    package static var current: UDPStatistics {
        UDPStatistics(ipv4: text(of: "/proc/net/snmp"), ipv6: text(of: "/proc/net/snmp6"))
    }

    /// Reads the texts of `/proc/net/snmp`, which has a line of names and a line of values for each protocol, and of
    /// `/proc/net/snmp6`, which has a line for each value.
    package init(ipv4: String, ipv6: String) {
        let lines = ipv4.split(separator: "\n").filter { $0.hasPrefix("Udp: ") }.map { $0.split(separator: " ") }
        var errors: UInt64 = 0
        if lines.count == 2, let column = lines[0].firstIndex(of: "InCsumErrors"), column < lines[1].count {
            errors = UInt64(lines[1][column]) ?? 0
        }
        for line in ipv6.split(separator: "\n") where line.hasPrefix("Udp6InCsumErrors") {
            errors &+= line.split(whereSeparator: \.isWhitespace).last.flatMap { UInt64($0) } ?? 0
        }
        checksumErrors = errors
    }

    private static func text(of path: String) -> String {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 32_768)
        var count = 0
        while count < bytes.count {
            let read = unsafe bytes.withUnsafeMutableBytes {
                unsafe Glibc.read(file, $0.baseAddress! + count, $0.count - count)
            }
            guard read > 0 else { break }
            count += read
        }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
