import CallControl

/// Any text: reading an address does not trap, and an address that was read means the same when it is read again.
package func fuzzUserAddress(_ bytes: Span<UInt8>) {
    var copy: [UInt8] = []
    for index in bytes.indices { copy.append(bytes[index]) }
    guard let named = NameAddress(parsing: String(decoding: copy, as: UTF8.self), defaultDomain: "example.com") else {
        return
    }
    let text = named.address.text
    precondition(text.utf8.count <= UserAddress.maximumLength, "the length is capped")
    precondition(text == text.lowercased(), "addresses are compared without case")
    precondition(!named.address.user.isEmpty && !named.address.domain.isEmpty, "both parts are there")
    precondition(
        !text.unicodeScalars.contains { $0.value <= 0x20 || $0.value == 0x7F || $0 == "/" }, "it fits into a path")
    precondition(UserAddress(parsing: text) == named.address, "it reads as itself")
    precondition(UserAddress(parsing: "sip:\(text);transport=tls") == named.address, "it reads as itself in a URI")
}
