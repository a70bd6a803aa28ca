extension SessionDescription {
    /// The text on the wire: lines in the order of RFC 8866 §5, each ended by CRLF.
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
    private(set) var text = ""

    init() { text.reserveCapacity(6_144) }

    mutating func line(_ type: String, _ value: String?) {
        guard let value else { return }
        text += type
        text += "="
        text += value
        text += "\r\n"
    }

    mutating func lines(_ bandwidths: [Bandwidth]) {
        for bandwidth in bandwidths { line("b", "\(bandwidth.type):\(bandwidth.value)") }
    }

    mutating func lines(_ attributes: [Attribute]) {
        for attribute in attributes {
            text += "a="
            text += attribute.name
            if let value = attribute.value {
                text += ":"
                text += value
            }
            text += "\r\n"
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
