import HTTPTypes
import Primitives
import SignalingServer
import Testing

@Suite struct `Trusted proxies` {
    private let proxies = TrustedProxies(["10.0.0.0/8", "2001:db8:0:1::/64"].compactMap { IPAddressRange($0) })

    private func client(of peer: String, _ forwarded: String...) -> String? {
        var headers = HTTPFields()
        for line in forwarded { headers.append(HTTPField(name: HTTPField.Name("X-Forwarded-For")!, value: line)) }
        return proxies.client(of: IPAddress(peer), headers)?.description
    }

    @Test func `a trusted proxy says who its client is`() {
        #expect(client(of: "10.0.0.1", "192.0.2.7") == "192.0.2.7")
        #expect(client(of: "::ffff:10.0.0.1", "192.0.2.7") == "192.0.2.7")
        #expect(client(of: "2001:db8:0:1::5", "2001:db8::7") == "2001:db8::7")
    }

    @Test func `the last of several trusted proxies is asked, then the one before it`() {
        #expect(client(of: "10.0.0.1", "192.0.2.7, 10.9.9.9") == "192.0.2.7")
        #expect(client(of: "10.0.0.1", "192.0.2.7", "10.9.9.9,10.0.0.2") == "192.0.2.7")
    }

    @Test func `what a client writes itself is not read, be its proxy trusted or not`() {
        #expect(client(of: "10.0.0.1", "198.51.100.1, 192.0.2.7") == "192.0.2.7")
        #expect(client(of: "10.0.0.1", "198.51.100.1", "192.0.2.7") == "192.0.2.7")
        #expect(client(of: "10.0.0.1", "10.0.0.99, 192.0.2.7") == "192.0.2.7")
        // U+0600 and the comma after it are one `Character`.
        #expect(client(of: "10.0.0.1", "\u{600}, 192.0.2.7") == "192.0.2.7")
        #expect(client(of: "192.0.2.9", "198.51.100.1") == "192.0.2.9")
        #expect(client(of: "192.0.2.9", "198.51.100.1, 10.0.0.1") == "192.0.2.9")
    }

    @Test(arguments: [
        ("192.0.2.7:4711", "192.0.2.7"), ("[2001:db8::7]:4711", "2001:db8::7"), ("[2001:db8::7]", "2001:db8::7"),
        (" 192.0.2.7\t", "192.0.2.7"),
        // Neither an address nor nothing: the proxy itself is all that is known.
        ("unknown", "10.0.0.1"), ("", "10.0.0.1"), ("192.0.2.7, _hidden", "10.0.0.1"), ("192.0.2.7,", "10.0.0.1"),
        ("[", "10.0.0.1"), (":", "10.0.0.1"),
        // Of the proxies' own network, at the far end.
        ("10.1.1.1", "10.1.1.1"),
    ])
    func `an entry is an address, with or without a port, or ends the reading`(_ entry: String, _ expected: String) {
        #expect(client(of: "10.0.0.1", entry) == expected)
    }

    @Test func `without trusted proxies the header means nothing`() {
        let headers = HTTPFields([HTTPField(name: HTTPField.Name("X-Forwarded-For")!, value: "192.0.2.7")])
        #expect(TrustedProxies().client(of: IPAddress("10.0.0.1"), headers) == IPAddress("10.0.0.1"))
        #expect(proxies.client(of: nil, headers) == nil)
    }

    @Test func `the client of a PROXY header takes the place of the peer`() {
        let headers = HTTPFields([HTTPField(name: HTTPField.Name("X-Forwarded-For")!, value: "192.0.2.7")])
        func client(_ source: ProxyHeader.Source?) -> String? {
            proxies.client(of: IPAddress("10.0.0.1"), announcing: source, headers)?.description
        }
        #expect(client(nil) == "192.0.2.7")
        #expect(client(.proxy) == "10.0.0.1")
        #expect(client(.client(IPAddress("198.51.100.1")!)) == "198.51.100.1")
        #expect(client(.client(IPAddress("10.9.9.9")!)) == "192.0.2.7")
    }
}
