import Primitives
import Testing

@Suite struct `The address guard` {
    @Test(arguments: [
        "127.0.0.1", "127.255.255.254", "0.0.0.0", "10.0.0.1", "100.64.0.1", "169.254.169.254", "172.16.0.1",
        "172.31.255.255", "192.168.1.1", "192.0.0.8", "192.0.2.1", "198.18.0.1", "203.0.113.9", "224.0.0.1",
        "255.255.255.255", "168.63.129.16", "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1",
        "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001::1", "2001:db8::1", "2002:7f00:1::", "3fff::1",
        "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "fec0::1", "4000::1",
    ])
    func `addresses that the Internet does not route are refused`(_ text: String) throws {
        #expect(!AddressGuard().permits(try #require(IPAddress(text))))
    }

    @Test(arguments: [
        "17.188.143.1", "8.8.8.8", "172.15.255.255", "172.32.0.0", "100.63.255.255", "100.128.0.0", "168.63.129.17",
        "2620:149:208::1", "2a00:1450:4001::1", "::ffff:8.8.8.8", "64:ff9b::808:808",
    ])
    func `addresses that the Internet routes are permitted`(_ text: String) throws {
        #expect(AddressGuard().permits(try #require(IPAddress(text))))
    }

    @Test func `an allowed range opens its addresses and no others`() throws {
        let addresses = AddressGuard(allowed: [try #require(IPAddressRange("10.1.0.0/16"))])
        #expect(addresses.permits(try #require(IPAddress("10.1.2.3"))))
        #expect(addresses.permits(try #require(IPAddress("::ffff:10.1.2.3"))))
        #expect(!addresses.permits(try #require(IPAddress("10.2.0.1"))))
        #expect(!addresses.permits(try #require(IPAddress("127.0.0.1"))))
    }
}
