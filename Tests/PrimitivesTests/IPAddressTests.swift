import Primitives
import TestSupport
import Testing

@Suite struct IPAddressTests {
    @Test(
        arguments: [
            ("0.0.0.0", 0), ("127.0.0.1", 0x7F00_0001), ("192.0.2.1", 0xC000_0201), ("255.255.255.255", 0xFFFF_FFFF),
        ] as [(String, UInt32)])
    func `a dotted quad is 32 bits and prints as it was`(_ text: String, _ bits: UInt32) {
        #expect(IPAddress(text) == IPAddress(v4: bits))
        #expect(IPAddress(v4: bits).description == text)
    }

    /// RFC 5952 §4 and §5: what is read on the left is printed as on the right.
    @Test(arguments: [
        ("::", "::"),
        ("::1", "::1"),
        ("1::", "1::"),
        ("0:0:0:0:0:0:0:1", "::1"),
        // §4.1: no leading zeros.
        ("2001:0db8::0001", "2001:db8::1"),
        // §4.2.1: as short as possible.
        ("2001:db8:0:0:0:0:2:1", "2001:db8::2:1"),
        // §4.2.2: a single zero group stays.
        ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
        ("2001:db8::1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
        ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
        ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"),
        // §4.2.3: the longest run, and the first of equals.
        ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"),
        ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
        // §4.3: lower case.
        ("2001:DB8::ABCD", "2001:db8::abcd"),
        // §5: a mapped address shows its dotted quad.
        ("::ffff:c000:201", "::ffff:192.0.2.1"),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.1"),
        ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"),
        ("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ])
    func `an IPv6 address prints in its canonical form`(_ text: String, _ canonical: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.family == .v6)
        #expect(address.description == canonical)
        #expect(IPAddress(canonical) == address)
    }

    @Test(arguments: [
        "", " ", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.-1", "1.2.3.+4", "1..3.4", "1.2.3.4 ", " 1.2.3.4",
        "0x1.2.3.4", "1.2.3.4444",
        // Some parsers read a leading zero as octal; an address that two programs read differently is none.
        "01.2.3.4", "1.2.3.04", "1.2.3.00",
        ":", ":::", "1:", ":1", "1:2", "1::2::3", "::1::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4::5:6:7:8",
        "12345::", "g::", "::1 ",
        "::+1", "::-0", "::-1", "::0x1", "fe80::1%eth0", "[::1]", "1.2.3.4::", "::1.2.3", "::01.2.3.4",
        "1:2:3:4:5:6:7:1.2.3.4", "1.2:3::1.2.3.4",
        "\u{0661}.2.3.4", "::\u{FF11}", ":\u{301}:", "1.2.3.4\0",
    ])
    func `text that is no address is refused`(_ text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test func `long text is refused without work`() {
        #expect(IPAddress(String(repeating: "::", count: 100_000)) == nil)
        #expect(IPAddress(String(repeating: "1.", count: 100_000)) == nil)
    }

    @Test(
        arguments: [
            ("127.0.0.1", [.loopback]), ("127.255.0.1", [.loopback]), ("128.0.0.1", []), ("::1", [.loopback]),
            ("::2", []),
            ("0.0.0.0", [.unspecified]), ("::", [.unspecified]), ("0.0.0.1", []),
            ("169.254.0.1", [.linkLocal]), ("169.253.0.1", []), ("fe80::1", [.linkLocal]), ("febf::1", [.linkLocal]),
            ("fec0::1", []), ("fe7f::1", []),
        ] as [(String, Set<Scope>)])
    func `special addresses are told apart`(_ text: String, _ scopes: Set<Scope>) throws {
        let address = try #require(IPAddress(text))
        #expect(address.isLoopback == scopes.contains(.loopback))
        #expect(address.isUnspecified == scopes.contains(.unspecified))
        #expect(address.isLinkLocal == scopes.contains(.linkLocal))
    }

    enum Scope { case loopback, unspecified, linkLocal }

    @Test func `a mapped address and its IPv4 address become one`() {
        #expect(IPAddress("::ffff:192.0.2.1")?.unmapped == IPAddress("192.0.2.1"))
        #expect(IPAddress("::fffe:192.0.2.1")?.unmapped == IPAddress("::fffe:192.0.2.1"))
        #expect(IPAddress("192.0.2.1")?.unmapped == IPAddress("192.0.2.1"))
    }

    @Test func `bytes are in network order`() {
        #expect(IPAddress("192.0.2.1")?.bytes == [192, 0, 2, 1])
        #expect(IPAddress("2001:db8::1")?.bytes == [0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
    }

    @Test func `families with the same bits differ`() throws {
        let (four, six) = (IPAddress(v4: 1), IPAddress(v6: 0, 1))
        #expect(four != six)
        #expect(SocketAddress(four, port: 5000).description == "0.0.0.1:5000")
        #expect(SocketAddress(six, port: 5000).description == "[::1]:5000")
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `every address survives printing and parsing`(seed: UInt64) {
        print("seed \(seed)")
        var random = SeededRandomSource(seed: seed)
        for _ in 0..<2000 {
            // Many zero groups, so that every shape of shortening occurs.
            let (highMask, lowMask) = (mask(&random), mask(&random))
            let six = IPAddress(v6: random.next() & highMask, random.next() & lowMask)
            #expect(IPAddress(six.description) == six)
            let four = IPAddress(v4: random.nextUInt32())
            #expect(IPAddress(four.description) == four)
        }
    }

    private func mask(_ random: inout SeededRandomSource) -> UInt64 {
        (0..<4).reduce(0) { mask, _ in mask << 16 | (random.next() & 1 == 0 ? 0xFFFF : 0) }
    }

    @Test(arguments: [4, 5] as [UInt64])
    func `text made of the right characters never traps`(seed: UInt64) {
        print("seed \(seed)")
        var random = SeededRandomSource(seed: seed)
        let characters = Array("0123456789abcdefF:::...%+-")
        for _ in 0..<5000 {
            let text = String(
                (0..<Int.random(in: 0...24, using: &random)).map { _ in characters.randomElement(using: &random)! })
            guard let address = IPAddress(text) else { continue }
            #expect(IPAddress(address.description) == address)
        }
    }
}
