import HTTPTypes
import Primitives
import SignalingServer

/// Any text as `X-Forwarded-For`: nothing but what trusted proxies wrote decides which address is the client's.
package func fuzzForwardedFor(_ bytes: Span<UInt8>) {
    // A header has no control characters; the library replaces them.
    let text = field(String(decoding: [UInt8](copying: bytes), as: UTF8.self)).value
    let found = client([text])
    precondition(IPAddress(found.description) == found && found.unmapped == found, "the client has an address")
    // A comma ends an entry, also where it is one character with what is next to it.
    let entries = text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map {
        String(Substring($0))
    }
    precondition(client(entries) == found, "a list may be in several headers")
    for entry in entries.suffix(8) { checkEntry(entry) }

    // From others than trusted proxies, the header means nothing.
    let fields = HTTPFields([field(text)])
    precondition(proxies.client(of: stranger, fields) == stranger, "a stranger cannot choose its address")
    precondition(proxies.client(of: nil, fields) == nil, "an unknown peer stays unknown")
    precondition(TrustedProxies().client(of: proxy, fields) == proxy, "without proxies the header means nothing")

    // What the proxy appends decides, whatever the client wrote before it.
    precondition(client(["\(text), \(stranger)"]) == stranger, "the proxy names its client")
    precondition(client([text, "\(stranger)"]) == stranger, "the proxy names its client in a header of its own")
    precondition(client(["\(text), unknown"]) == proxy, "a client without an address is its proxy")
    if !proxies.contains(found) {
        precondition(client(["198.51.100.1, \(text)"]) == found, "what the client wrote itself is not read")
    }
}

/// An entry that counts begins with the address that was read, with a bracket before it at most.
private func checkEntry(_ entry: String) {
    let found = client([entry])
    guard found != proxy else { return }
    let written = entry.drop { $0 == " " || $0 == "\t" || $0 == "[" }
        .prefix { $0.isHexDigit || $0 == ":" || $0 == "." }
    let readings = [IPAddress(written), IPAddress(written.prefix { $0 != ":" })]
    precondition(readings.contains { $0?.unmapped == found }, "no other text is an address")
}

private let proxies = TrustedProxies(["10.0.0.0/8", "2001:db8:0:1::/64"].compactMap { IPAddressRange($0) })
private let proxy = IPAddress(v4: 0x0A00_0001)
private let stranger = IPAddress(v4: 0xC000_0207)

/// The client of a request that comes from the proxy, with these headers.
private func client(_ values: [String]) -> IPAddress {
    var fields = HTTPFields()
    for value in values { fields.append(field(value)) }
    guard let client = proxies.client(of: proxy, fields) else { preconditionFailure("the proxy has an address") }
    return client
}

private func field(_ value: String) -> HTTPField {
    guard let name = HTTPField.Name("X-Forwarded-For") else { preconditionFailure("this is the name of a header") }
    return HTTPField(name: name, value: value)
}
