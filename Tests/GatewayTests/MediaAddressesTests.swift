import Primitives
import Testing

import Gateway

@Suite struct MediaAddressesTests {
    private static func interface(_ address: String, isLoopback: Bool = false, isUp: Bool = true)
        -> MediaAddresses.Interface
    {
        MediaAddresses.Interface(address: IPAddress(address)!, isLoopback: isLoopback, isUp: isUp)
    }

    private let machine = [
        interface("127.0.0.1", isLoopback: true), interface("::1", isLoopback: true), interface("192.0.2.2"),
        interface("2001:db8::2"),
        interface("fe80::2"), interface("198.51.100.7", isUp: false), interface("192.0.2.2"),
    ]

    private func resolve(_ bind: [String], _ advertise: [String], includesLoopback: Bool = false) -> [[String]] {
        let addresses = MediaAddresses(
            bind: bind.compactMap { IPAddress($0) }, advertise: advertise.compactMap { IPAddress($0) },
            interfaces: machine,
            includesLoopback: includesLoopback)
        return [addresses.bind.map(\.description), addresses.advertise.map(\.description)]
    }

    @Test func `every usable address is taken, once`() {
        #expect(resolve([], []) == [["192.0.2.2", "2001:db8::2"], ["192.0.2.2", "2001:db8::2"]])
    }

    @Test func `development takes loopback too`() {
        let all = ["127.0.0.1", "::1", "192.0.2.2", "2001:db8::2"]
        #expect(resolve([], [], includesLoopback: true) == [all, all])
    }

    @Test func `behind NAT the public address is told, the private one listened on`() {
        #expect(resolve([], ["203.0.113.9"]) == [["192.0.2.2", "2001:db8::2"], ["203.0.113.9"]])
    }

    @Test func `what is listened on is told, and nothing else`() {
        #expect(resolve(["192.0.2.2"], []) == [["192.0.2.2"], ["192.0.2.2"]])
    }

    @Test func `every address of a family stands for those the machine has`() {
        #expect(resolve(["0.0.0.0"], []) == [["0.0.0.0"], ["192.0.2.2"]])
        #expect(resolve(["0.0.0.0", "::"], []) == [["0.0.0.0", "::"], ["192.0.2.2", "2001:db8::2"]])
    }
}
