import Primitives
import SignalingServer
import Testing

@Suite struct `PROXY headers` {
    private static let addresses4: [UInt8] = [192, 0, 2, 7, 10, 0, 0, 1, 0x12, 0x67, 0x20, 0xFB]
    private static let client4 = IPAddress(v4: 0xC000_0207)

    private func parse(_ bytes: [UInt8]) throws -> ProxyHeader? { try ProxyHeader.parse(bytes.span) }

    private func parse(_ text: String) throws -> ProxyHeader? { try parse(Array(text.utf8)) }

    /// The line of version 1, read up to its end.
    private func source(_ line: String) throws -> ProxyHeader.Source? {
        try parse("PROXY \(line)\r\n\u{16}").map { header in
            #expect(header.length == line.utf8.count + 8)
            return header.source
        }
    }

    @Test func `version 2 tells an IPv4 client`() throws {
        let header = try parse(ProxyHeaderBytes.version2(0x21, 0x11, Self.addresses4) + [0x16, 0x03])
        #expect(header?.source == .client(Self.client4))
        #expect(header?.length == 28)
    }

    @Test func `version 2 tells an IPv6 client, and a mapped one as IPv4`() throws {
        let client: [UInt8] = [0x20, 0x01, 0x0D, 0xB8] + Array(repeating: 0, count: 11) + [7]
        let mapped: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF, 192, 0, 2, 7]
        let rest = [UInt8](repeating: 0, count: 20)
        #expect(
            try parse(ProxyHeaderBytes.version2(0x21, 0x21, client + rest))?.source
                == .client(IPAddress("2001:db8::7")!))
        #expect(try parse(ProxyHeaderBytes.version2(0x21, 0x21, mapped + rest))?.source == .client(Self.client4))
    }

    @Test func `TLVs are skipped, whatever is in them`() throws {
        let values: [UInt8] = [0x04, 0x00, 0x03, 1, 2, 3, 0x20, 0xFF, 0xFF]
        let header = try parse(ProxyHeaderBytes.version2(0x21, 0x11, Self.addresses4 + values))
        let again = try parse(ProxyHeaderBytes.version2(0x21, 0x11, Self.addresses4 + values) + [1, 2])
        #expect(header == again)
        #expect(header?.source == .client(Self.client4))
        #expect(header?.length == 28 + values.count)
    }

    @Test(arguments: [(0x20, 0x00, 0), (0x20, 0x11, 12), (0x20, 0x77, 3), (0x21, 0x00, 0), (0x21, 0x31, 216)])
    func `LOCAL, UNSPEC and AF_UNIX tell no client`(_ kind: Int, _ protocols: Int, _ count: Int) throws {
        let bytes = ProxyHeaderBytes.version2(
            UInt8(kind), UInt8(protocols), Array(repeating: 9, count: count))
        #expect(try parse(bytes)?.source == .proxy)
        #expect(try parse(bytes)?.length == bytes.count)
    }

    @Test func `what a program says of itself is a header`() throws {
        #expect(try parse(ProxyHeader.local)?.source == .proxy)
        #expect(try parse(ProxyHeader.local)?.length == ProxyHeader.local.count)
    }

    @Test(arguments: [
        (0x11, 0x11, ProxyHeader.Fault.unknown), (0x31, 0x11, .unknown), (0x22, 0x11, .unknown),
        (0x21, 0x12, .unknown), (0x21, 0x22, .unknown), (0x21, 0x41, .unknown), (0x21, 0x01, .unknown),
        (0x21, 0x21, .tooShort), (0x21, 0x31, .tooShort),
    ])
    func `what is not TCP or not known is refused`(_ kind: Int, _ protocols: Int, _ fault: ProxyHeader.Fault) {
        #expect(throws: fault) {
            try parse(ProxyHeaderBytes.version2(UInt8(kind), UInt8(protocols), Self.addresses4))
        }
    }

    @Test func `a header is refused by its length, before its bytes have come`() throws {
        let header = ProxyHeaderBytes.version2(0x21, 0x11, Array(repeating: 0, count: ProxyHeader.longest - 16))
        #expect(try parse(header)?.length == ProxyHeader.longest)
        let longer = ProxyHeaderBytes.version2(0x21, 0x11, Array(repeating: 0, count: ProxyHeader.longest - 15))
        #expect(throws: ProxyHeader.Fault.tooLong) { try parse(Array(longer.prefix(16))) }
    }

    @Test func `one byte at a time is enough`() throws {
        for header in [
            ProxyHeaderBytes.version2(0x21, 0x11, Self.addresses4 + [0x04, 0, 1, 0]), ProxyHeader.local,
            Array("PROXY TCP4 192.0.2.7 10.0.0.1 4711 8443\r\n".utf8),
        ] {
            for count in 0..<header.count { #expect(try parse(Array(header.prefix(count))) == nil) }
            #expect(try parse(header)?.length == header.count)
        }
    }

    @Test func `version 1 tells a client, or none`() throws {
        #expect(try source("TCP4 192.0.2.7 10.0.0.1 4711 8443") == .client(Self.client4))
        #expect(try source("TCP6 2001:db8::7 2001:db8::1 65535 0") == .client(IPAddress("2001:db8::7")!))
        #expect(try source("TCP6 ::ffff:192.0.2.7 ::1 1 2") == .client(Self.client4))
        #expect(try source("UNKNOWN") == .proxy)
        #expect(try source("UNKNOWN ffff::1 whatever 1") == .proxy)
    }

    @Test(arguments: [
        "TCP4 192.0.2.7 10.0.0.1 4711", "TCP4 192.0.2.7 10.0.0.1 4711 8443 9", "TCP4 192.0.2.07 10.0.0.1 1 2",
        "TCP4  192.0.2.7 10.0.0.1 1 2", "TCP4 ::1 ::1 1 2", "TCP6 192.0.2.7 10.0.0.1 1 2", "TCP4 192.0.2.7 x 1 2",
        "TCP4 192.0.2.7 10.0.0.1 1 65536", "TCP4 192.0.2.7 10.0.0.1 01 2", "TCP4 192.0.2.7 10.0.0.1 +1 2",
        "UDP4 192.0.2.7 10.0.0.1 1 2", "tcp4 192.0.2.7 10.0.0.1 1 2", "", "UNKNOWN\r",
    ])
    func `a line that is not well-formed is refused`(_ line: String) {
        // A second carriage return belongs to the word before it.
        #expect(throws: ProxyHeader.Fault.line) { try source(line) }
    }

    @Test func `a line ends with both of its bytes, and in time`() {
        #expect(throws: ProxyHeader.Fault.line) { try parse("PROXY UNKNOWN\n") }
        #expect(throws: ProxyHeader.Fault.tooLong) { try parse("PROXY UNKNOWN " + String(repeating: "x", count: 93)) }
        #expect((try? parse("PROXY UNKNOWN " + String(repeating: "x", count: 91) + "\r\n"))??.length == 107)
    }

    @Test(arguments: ["GET / HTTP/1.1\r\n", "\u{16}\u{3}\u{1}", "\r\n\r\nGET", "PROXIES", "p"])
    func `anything else is no header, from its first byte that differs`(_ text: String) {
        #expect(throws: ProxyHeader.Fault.missing) { try parse(text) }
    }
}

/// Headers as proxies write them.
enum ProxyHeaderBytes {
    static func version2(_ kind: UInt8, _ protocols: UInt8, _ body: [UInt8]) -> [UInt8] {
        Array("\r\n\r\n\0\r\nQUIT\n".utf8) + [kind, protocols, UInt8(body.count >> 8), UInt8(body.count & 0xFF)] + body
    }

    /// A TCP connection over IPv4 of this client.
    static func version2(of client: String) -> [UInt8] {
        guard let address = IPAddress(client) else { preconditionFailure("this is an address") }
        return version2(0x21, 0x11, address.bytes + [10, 0, 0, 1, 0, 1, 0, 2])
    }
}
