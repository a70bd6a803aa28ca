import Primitives
import Testing

@Suite struct `Address ranges` {
    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true),
        ("10.0.0.0/8", "11.0.0.1", false),
        ("192.0.2.7", "192.0.2.7", true),
        ("192.0.2.7", "192.0.2.8", false),
        ("0.0.0.0/0", "203.0.113.9", true),
        ("0.0.0.0/0", "2001:db8::1", false),
        ("192.0.2.0/24", "::ffff:192.0.2.9", true),
        ("2001:db8::/32", "2001:db8:ffff::1", true),
        ("2001:db8::/32", "2001:db9::1", false),
        ("2001:db8::/72", "2001:db8::ff:0:0:1", true),
        ("2001:db8::/72", "2001:db8:0:0:100::1", false),
        ("::1", "::1", true),
        ("::/0", "2001:db8::1", true),
    ])
    func `what is in a range`(_ range: String, _ address: String, _ isIn: Bool) throws {
        #expect(try #require(IPAddressRange(range)).contains(try #require(IPAddress(address))) == isIn)
    }

    @Test(arguments: [
        "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/+8", "10.0.0.0/8/8", "2001:db8::/129", "name/8",
        "10.0.0.0/0008",
    ])
    func `what is none`(_ text: String) {
        #expect(IPAddressRange(text) == nil)
    }

    @Test(arguments: ["10.0.0.0/8", "192.0.2.7/32", "2001:db8::/32", "::1/128"])
    func `a range is written as it is read`(_ text: String) throws {
        #expect(try #require(IPAddressRange(text)).description == text)
    }
}
