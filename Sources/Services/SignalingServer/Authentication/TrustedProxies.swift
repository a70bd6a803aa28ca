package import HTTPTypes
package import Primitives

/// Whose word is taken for the address of a client: reverse proxies, which write it into `X-Forwarded-For`.
///
/// Each proxy appends the address that it was asked from. The header is read from its end for as long as a trusted
/// proxy has written; the first address that is no trusted proxy's is the client's. What stands further left is the
/// client's own word, and nobody reads it. From any other peer the header means nothing at all.
package struct TrustedProxies: Equatable, Sendable {
    package var ranges: [IPAddressRange]

    package init(_ ranges: [IPAddressRange] = []) { self.ranges = ranges }

    package func contains(_ address: IPAddress) -> Bool { ranges.contains { $0.contains(address) } }

    /// The address to which limits apply.
    ///
    /// - Parameters:
    ///   - peer: the other end of the connection.
    ///   - headers: of the request. An entry that is no address ends the reading: its writer is then the last one known.
    package func client(of peer: IPAddress?, _ headers: HTTPFields) -> IPAddress? {
        guard !ranges.isEmpty, var client = peer?.unmapped, contains(client) else { return peer }
        for field in headers[values: .xForwardedFor].reversed() {
            for entry in field.split(separator: ",", omittingEmptySubsequences: false).reversed() {
                guard let address = Self.address(in: entry) else { return client }
                client = address
                guard contains(client) else { return client }
            }
        }
        return client
    }

    /// `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1` or `[2001:db8::1]:4711`, as proxies write them.
    private static func address(in entry: Substring) -> IPAddress? {
        let text = entry.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
        if let address = IPAddress(text) { return address.unmapped }
        if text.first == "[" { return IPAddress(text.dropFirst().prefix { $0 != "]" })?.unmapped }
        return IPAddress(text.prefix { $0 != ":" })
    }
}

extension HTTPField.Name {
    /// A list of addresses, the client's first; no standard, but what proxies write.
    fileprivate static let xForwardedFor: HTTPField.Name = {
        guard let name = HTTPField.Name("X-Forwarded-For") else { preconditionFailure("this is a name of a header") }
        return name
    }()
}
