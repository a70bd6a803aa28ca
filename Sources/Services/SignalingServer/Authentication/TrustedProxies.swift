package import HTTPTypes
package import Primitives

/// The reverse proxies whose `X-Forwarded-For` is believed, and with the PROXY protocol their ``ProxyHeader``.
///
/// Each proxy appends the address from which it was asked. The header is read from its end, as long as the entries were
/// written by trusted proxies. The first address that does not belong to a trusted proxy is the client's. Entries
/// further left come from the client itself and are not read. From any other peer the header is ignored.
package struct TrustedProxies: Equatable, Sendable {
    /// The addresses of the proxies. Empty: the header is always ignored.
    package var ranges: [IPAddressRange]

    /// Makes a list of proxies; by default there are none.
    package init(_ ranges: [IPAddressRange] = []) { self.ranges = ranges }

    /// Whether the address belongs to a trusted proxy.
    package func contains(_ address: IPAddress) -> Bool { ranges.contains { $0.contains(address) } }

    /// The client's address, to which limits apply.
    ///
    /// - Parameters:
    ///   - peer: the other end of the connection; `nil` if it is not known.
    ///   - headers: the headers of the request. Reading ends at an entry that is not an address; the proxy that wrote
    ///     it then counts as the client.
    /// - Returns: `nil` if `peer` is `nil`.
    package func client(of peer: IPAddress?, _ headers: HTTPFields) -> IPAddress? {
        guard !ranges.isEmpty, var client = peer?.unmapped, contains(client) else { return peer }
        for field in headers[values: .xForwardedFor].reversed() {
            // The list is split by bytes: a comma may be one `Character` with what the client wrote before it.
            let comma = UInt8(ascii: ",")
            for entry in field.utf8.split(separator: comma, omittingEmptySubsequences: false).reversed() {
                guard let address = Self.address(in: Substring(entry)) else { return client }
                client = address
                guard contains(client) else { return client }
            }
        }
        return client
    }

    /// The client's address, to which limits apply, of a connection that may have started with a PROXY header.
    ///
    /// The client that the header tells takes the place of the peer: the headers of its requests are read only if it is
    /// a trusted proxy, too. If the header tells no client, the proxy counts, and nothing that a request says.
    ///
    /// - Parameter source: what the header said; `nil`: there was none.
    /// - Returns: `nil` if the peer is not known, and no header told of a client.
    package func client(
        of peer: IPAddress?, announcing source: ProxyHeader.Source?, _ headers: HTTPFields
    ) -> IPAddress? {
        switch source {
        case nil: client(of: peer, headers)
        case .client(let address): client(of: address, headers)
        case .proxy: peer
        }
    }

    /// The address in an entry, in the forms that proxies write: `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1` or
    /// `[2001:db8::1]:4711`.
    private static func address(in entry: Substring) -> IPAddress? {
        let text = entry.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
        if let address = IPAddress(text) { return address.unmapped }
        if text.first == "[" { return IPAddress(text.dropFirst().prefix { $0 != "]" })?.unmapped }
        return IPAddress(text.prefix { $0 != ":" })
    }
}

extension HTTPField.Name {
    /// A list of addresses, the client's first. It is not standardised, but proxies write it.
    static let xForwardedFor: HTTPField.Name = {
        guard let name = HTTPField.Name("X-Forwarded-For") else { preconditionFailure("this is a name of a header") }
        return name
    }()
}
