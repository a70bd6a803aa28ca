/// Collects the transport attributes of one level of a description.
struct TransportReading {
    private(set) var transport = PeerTransport()
    private var ufrag: String?
    private var password: String?

    /// Takes an ICE or DTLS attribute; `false` if the attribute is none of them.
    ///
    /// - Throws: If its value cannot be read.
    mutating func take(_ attribute: Attribute) throws(AttributeFault) -> Bool {
        switch attribute.name {
        case "ice-ufrag":
            ufrag = try iceCharacters(of: attribute, count: 4...256)
            pairCredentials()
        case "ice-pwd":
            password = try iceCharacters(of: attribute, count: 22...256)
            pairCredentials()
        case "fingerprint":
            guard let value = attribute.value, let fingerprint = Fingerprint.reading(value) else {
                throw AttributeFault(attribute)
            }
            if let fingerprint { transport.fingerprints.append(fingerprint) }
        case "setup":
            guard let value = attribute.value, let setup = SetupRole(rawValue: value.lowercased()) else {
                throw AttributeFault(attribute)
            }
            transport.setup = setup
        case "candidate":
            guard let value = attribute.value else { throw AttributeFault(attribute) }
            transport.candidates.append(value)
        case "end-of-candidates": transport.hasAllCandidates = true
        case "ice-options":
            guard let value = attribute.value else { throw AttributeFault(attribute) }
            transport.tricklesCandidates = value.split(separator: " ").contains("trickle")
        case "rtcp-mux", "rtcp-mux-only": transport.multiplexesRTCP = true
        case "crypto": transport.offersSDESKeys = true
        default: return false
        }
        return true
    }

    private mutating func pairCredentials() {
        guard let ufrag, let password else { return }
        transport.credentials = ICECredentials(ufrag: ufrag, password: password)
    }

    /// The value of `a=ice-ufrag` or `a=ice-pwd` (RFC 8839 §5.4).
    ///
    /// Deviation: any visible character is accepted, because some agents write `-` or `_`, and the value is only
    /// compared.
    private func iceCharacters(of attribute: Attribute, count: ClosedRange<Int>) throws(AttributeFault) -> String {
        guard let value = attribute.value, count.contains(value.utf8.count),
            value.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw AttributeFault(attribute)
        }
        return value
    }
}
