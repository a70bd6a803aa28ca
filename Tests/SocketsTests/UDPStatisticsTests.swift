import Sockets
import Testing

/// What the kernel counts about UDP.
struct UDPStatisticsTests {
    private let ipv4 = """
        Ip: Forwarding DefaultTTL InReceives
        Ip: 1 64 1000
        Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors IgnoredMulti MemErrors
        Udp: 900 1 44 800 40 0 4 0 0
        UdpLite: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors IgnoredMulti MemErrors
        UdpLite: 0 0 0 0 0 0 77 0 0

        """
    private let ipv6 =
        "Ip6InReceives \t10\nUdp6InErrors  \t9\nUdp6InCsumErrors                \t3\nUdpLite6InCsumErrors \t5\n"

    @Test func `wrong checksums are counted over both versions of IP`() {
        #expect(UDPStatistics(ipv4: ipv4, ipv6: ipv6).checksumErrors == 7)
        #expect(UDPStatistics(ipv4: ipv4, ipv6: "").checksumErrors == 4)
    }

    @Test func `what the kernel does not tell is none`() {
        #expect(UDPStatistics(ipv4: "", ipv6: "").checksumErrors == 0)
        #expect(UDPStatistics(ipv4: "Udp: InCsumErrors\nUdp:\n", ipv6: "Udp6InCsumErrors\n").checksumErrors == 0)
    }
}
