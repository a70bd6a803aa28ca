import ICE
import Primitives
import Testing

@Suite struct CandidateTests {
    private static func endpoint(_ address: String, _ port: UInt16) -> Candidate.Endpoint {
        Candidate.Endpoint(CandidateAddress(address)!, port: port)
    }

    static let valid: [(String, Candidate)] = [
        // RFC 8839 §5.1 has both of these shapes.
        (
            "candidate:1 1 UDP 2130706431 203.0.113.141 8998 typ host",
            Candidate(foundation: "1", priority: 2_130_706_431, endpoint: endpoint("203.0.113.141", 8998), kind: .host)
        ),
        (
            "candidate:2 1 UDP 1694498815 192.0.2.3 45664 typ srflx raddr 203.0.113.141 rport 8998",
            Candidate(
                foundation: "2", priority: 1_694_498_815, endpoint: endpoint("192.0.2.3", 45664),
                kind: .serverReflexive,
                related: endpoint("203.0.113.141", 8998))
        ),
        // A browser's own, with extensions and without; a name stays a name.
        (
            "candidate:842163049 1 udp 1677729535 198.51.100.7 51472 typ srflx raddr 0.0.0.0 rport 0 generation 0 ufrag Yv3b network-cost 999",
            Candidate(
                foundation: "842163049", priority: 1_677_729_535, endpoint: endpoint("198.51.100.7", 51472),
                kind: .serverReflexive,
                related: endpoint("0.0.0.0", 0),
                extensions: [.init("generation", "0"), .init("ufrag", "Yv3b"), .init("network-cost", "999")])
        ),
        (
            "candidate:3 1 udp 2113937151 0f7a3c9e-5d0b-4b52-9a44-2c1d1e9f8b77.local 54400 typ host generation 0 ufrag x network-cost 999",
            Candidate(
                foundation: "3", priority: 2_113_937_151,
                endpoint: Candidate.Endpoint(.name("0f7a3c9e-5d0b-4b52-9a44-2c1d1e9f8b77.local"), port: 54400),
                kind: .host,
                extensions: [.init("generation", "0"), .init("ufrag", "x"), .init("network-cost", "999")])
        ),
        (
            "candidate:4 2 tcp 1518280447 2001:db8::1 9 typ host tcptype active",
            Candidate(
                foundation: "4", component: 2, transport: .tcp, priority: 1_518_280_447,
                endpoint: endpoint("2001:db8::1", 9), kind: .host,
                extensions: [.init("tcptype", "active")])
        ),
        (
            "candidate:a+/Z 256 dccp 1 192.0.2.1 0 typ relay raddr 192.0.2.9 rport 1",
            Candidate(
                foundation: "a+/Z", component: 256, transport: .other("dccp"), priority: 1,
                endpoint: endpoint("192.0.2.1", 0), kind: .relayed,
                related: endpoint("192.0.2.9", 1))
        ),
        (
            "candidate:5 1 udp 2147483647 192.0.2.1 65535 typ x-future",
            Candidate(
                foundation: "5", priority: 2_147_483_647, endpoint: endpoint("192.0.2.1", 65535),
                kind: .other("x-future"))
        ),
    ]

    @Test(arguments: valid)
    func `a candidate is read, with its prefix or without`(_ row: (String, Candidate)) throws {
        #expect(try Candidate(parsing: row.0) == row.1)
        #expect(try Candidate(parsing: row.0.dropFirst("candidate:".count)) == row.1)
    }

    @Test(arguments: valid)
    func `a candidate is printed as it is read`(_ row: (String, Candidate)) throws {
        #expect(row.1.description == row.0.replacing("UDP", with: "udp"))
        #expect("candidate:" + row.1.attributeValue == row.1.description)
        #expect(try Candidate(parsing: row.1.description) == row.1)
    }

    @Test(
        arguments: [
            ("", .malformedFoundation), ("candidate:", .malformedFoundation),
            ("é 1 udp 1 192.0.2.1 1 typ host", .malformedFoundation),
            (String(repeating: "f", count: 33) + " 1 udp 1 192.0.2.1 1 typ host", .malformedFoundation),
            ("1", .malformedComponent), ("1 0 udp 1 192.0.2.1 1 typ host", .malformedComponent),
            ("1 257 udp 1 192.0.2.1 1 typ host", .malformedComponent),
            ("1 +1 udp 1 192.0.2.1 1 typ host", .malformedComponent),
            ("1 1 u;p 1 192.0.2.1 1 typ host", .malformedTransport),
            ("1 1 udp 0 192.0.2.1 1 typ host", .malformedPriority),
            ("1 1 udp 2147483648 192.0.2.1 1 typ host", .malformedPriority),
            ("1 1 udp 99999999999 192.0.2.1 1 typ host", .malformedPriority),
            ("1 1 udp -1 192.0.2.1 1 typ host", .malformedPriority),
            ("1 1 udp 1 192.0.2 1 typ host", .malformedAddress),
            ("1 1 udp 1 192.0.2.256 1 typ host", .malformedAddress),
            ("1 1 udp 1 a..local 1 typ host", .malformedAddress),
            ("1 1 udp 1 fe80::1%eth0 1 typ host", .malformedAddress),
            ("1 1 udp 1 192.0.2.1 65536 typ host", .malformedPort), ("1 1 udp 1 192.0.2.1", .malformedPort),
            ("1 1 udp 1 192.0.2.1 1", .malformedType), ("1 1 udp 1 192.0.2.1 1 host", .malformedType),
            ("1 1 udp 1 192.0.2.1 1 typ", .malformedType),
            ("1 1 udp 1 192.0.2.1 1 typ srflx raddr 192.0.2.2", .malformedRelatedAddress),
            ("1 1 udp 1 192.0.2.1 1 typ srflx rport 5", .malformedRelatedAddress),
            ("1 1 udp 1 192.0.2.1 1 typ srflx raddr x% rport 5", .malformedRelatedAddress),
            ("1 1 udp 1 192.0.2.1 1 typ host generation", .malformedExtension),
            ("1 1 udp 1 192.0.2.1 1 typ host a é", .malformedExtension),
            ("1 1 udp 1 192.0.2.1 1 typ host" + String(repeating: " a b", count: 33), .limitExtensions),
        ] as [(String, CandidateError)])
    func `text that is no candidate is refused with the field at fault`(_ text: String, _ error: CandidateError) {
        #expect(throws: error) { try Candidate(parsing: text) }
    }

    @Test func `extensions have names`() throws {
        let candidate = try Candidate(parsing: "1 1 tcp 1 192.0.2.1 9 typ host tcptype passive generation 2 ufrag abc")
        #expect(candidate.extensions.map(\.name) == ["tcptype", "generation", "ufrag"])
        #expect(candidate.extensions.map(\.value) == ["passive", "2", "abc"])
        #expect(candidate.ufrag == "abc")
    }

    /// RFC 8445 §5.1.2.1 with the type preferences of §5.1.2.2.
    @Test(
        arguments: [
            (.host, 65_535, 1, 2_130_706_431), (.host, 65_535, 2, 2_130_706_430), (.host, 0, 256, 2_113_929_216),
            (.serverReflexive, 65_535, 1, 1_694_498_815), (.peerReflexive, 65_535, 1, 1_862_270_975),
            (.relayed, 65_535, 1, 16_777_215),
        ] as [(Candidate.Kind, UInt16, Int, UInt32)])
    func `priorities follow the formula`(
        _ kind: Candidate.Kind, _ localPreference: UInt16, _ component: Int, _ priority: UInt32
    ) {
        #expect(Candidate.priority(of: kind, localPreference: localPreference, component: component) == priority)
    }

    @Test func `host candidates take turns between the families and fall in priority`() {
        let addresses = [
            "192.0.2.1", "192.0.2.2", "2001:db8::1", "192.0.2.3", "2001:db8::2", "192.0.2.1", "0.0.0.0", "::",
        ]
        .map { SocketAddress(IPAddress($0)!, port: 7000) }
        let candidates = Candidate.hosts(for: addresses)
        #expect(
            candidates.map(\.attributeValue) == [
                "1 1 udp 2130706431 2001:db8::1 7000 typ host", "2 1 udp 2130706175 192.0.2.1 7000 typ host",
                "3 1 udp 2130705919 2001:db8::2 7000 typ host", "4 1 udp 2130705663 192.0.2.2 7000 typ host",
                "5 1 udp 2130705407 192.0.2.3 7000 typ host",
            ])
        #expect(Candidate.hosts(for: []) == [])
    }

    @Test func `loopback addresses come after those that other machines reach, and have lower priorities`() {
        let addresses = ["127.0.0.1", "::1", "192.0.2.1", "2001:db8::1"].map {
            SocketAddress(IPAddress($0)!, port: 7000)
        }
        let candidates = Candidate.hosts(for: addresses, tcp: addresses)
        let order = ["2001:db8::1", "192.0.2.1", "::1", "127.0.0.1"]
        #expect(candidates.map { "\($0.endpoint.address)" } == order + order)
        #expect(candidates.map(\.priority) == candidates.map(\.priority).sorted(by: >))
        #expect(candidates.map(\.transport) == Array(repeating: .udp, count: 4) + Array(repeating: .tcp, count: 4))
    }

    /// The passive candidates are those of the example in RFC 6544, appendix A, but for the address.
    @Test func `passive candidates over TCP come after all others`() {
        let addresses = ["192.0.2.1", "2001:db8::1", "192.0.2.1"].map { IPAddress($0)! }
        let candidates = Candidate.hosts(
            for: addresses.map { SocketAddress($0, port: 7000) }, tcp: addresses.map { SocketAddress($0, port: 7443) })
        #expect(
            candidates.map(\.attributeValue) == [
                "1 1 udp 2130706431 2001:db8::1 7000 typ host", "2 1 udp 2130706175 192.0.2.1 7000 typ host",
                "3 1 tcp 2124414975 2001:db8::1 7443 typ host tcptype passive",
                "4 1 tcp 2124414719 192.0.2.1 7443 typ host tcptype passive",
            ])
        for candidate in candidates { #expect((try? Candidate(parsing: candidate.attributeValue)) == candidate) }
    }

    @Test func `two ports of one address share a foundation`() {
        let address = IPAddress(v4: 0xC000_0201)
        let candidates = Candidate.hosts(for: [SocketAddress(address, port: 1), SocketAddress(address, port: 2)])
        #expect(candidates.map(\.foundation) == ["1", "1"])
        #expect(Set(candidates.map(\.priority)).count == 2)
    }
}
