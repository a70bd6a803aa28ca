extension SessionDescription {
    /// The text for the peer: lines in the order of RFC 8866 §5, each ended by CRLF.
    package var serialized: String {
        var text = DescriptionText()
        text.line("v", "0")
        text.line("o", "\(origin.username) \(origin.sessionID) \(origin.version) \(origin.address.fields)")
        text.line("s", name)
        text.line("i", information)
        text.line("u", uri)
        for address in emailAddresses { text.line("e", address) }
        for number in phoneNumbers { text.line("p", number) }
        text.line("c", connection?.fields)
        text.lines(bandwidths)
        for time in times {
            text.line("t", "\(time.start) \(time.stop)")
            for interval in time.repeats { text.line("r", interval) }
            text.line("z", time.zones)
        }
        text.line("k", key)
        text.lines(attributes)
        for section in media { text.section(section) }
        return text.text
    }
}

private struct DescriptionText {
    private var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(8_192) }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    mutating func line(_ type: Unicode.Scalar, _ value: String?) {
        guard let value else { return }
        bytes.append(UInt8(ascii: type))
        bytes.append(UInt8(ascii: "="))
        bytes.append(contentsOf: value.utf8)
        endLine()
    }

    private mutating func endLine() {
        bytes.append(UInt8(ascii: "\r"))
        bytes.append(UInt8(ascii: "\n"))
    }

    mutating func lines(_ bandwidths: [Bandwidth]) {
        for bandwidth in bandwidths { line("b", "\(bandwidth.type):\(bandwidth.value)") }
    }

    mutating func lines(_ attributes: [Attribute]) {
        for attribute in attributes {
            bytes.append(UInt8(ascii: "a"))
            bytes.append(UInt8(ascii: "="))
            bytes.append(contentsOf: attribute.name.utf8)
            if let value = attribute.value {
                bytes.append(UInt8(ascii: ":"))
                bytes.append(contentsOf: value.utf8)
            }
            endLine()
        }
    }

    mutating func section(_ media: MediaDescription) {
        let ports = media.portCount.map { "\(media.port)/\($0)" } ?? "\(media.port)"
        line("m", "\(media.type) \(ports) \(media.transportProtocol) \(media.formats.joined(separator: " "))")
        line("i", media.information)
        for connection in media.connections { line("c", connection.fields) }
        lines(media.bandwidths)
        line("k", media.key)
        lines(media.attributes)
    }
}

extension Connection {
    fileprivate var fields: String { "\(networkType) \(addressType) \(address)" }
}
