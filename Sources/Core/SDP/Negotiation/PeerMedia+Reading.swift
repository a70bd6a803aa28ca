extension PeerMedia {
    /// Reads one m-line. Its `refusal` is set later, when the groups are known.
    ///
    /// - Throws: `.malformedMedia` if the value of an attribute cannot be read.
    init(reading media: MediaDescription, at index: Int, defaults: SessionDefaults) throws(SDPError) {
        self.init(
            index: index, mid: "", namesMid: false, kind: MediaKind(token: media.type), port: media.port,
            transportProtocol: media.transportProtocol, formats: media.formats, refusal: nil, isBundleOnly: false,
            direction: defaults.direction, codecs: [], extensions: defaults.extensions,
            allowsMixedExtensions: defaults.allowsMixedExtensions, allowsReducedSizeRTCP: false,
            bandwidths: media.bandwidths,
            packetTime: nil, maximumPacketTime: nil, sources: [], canonicalName: nil, streamID: nil,
            transport: defaults.transport)
        do throws(AttributeFault) {
            try take(media.attributes, defaults: defaults)
        } catch {
            throw .malformedMedia(index, .unreadable(attribute: error.name))
        }
    }

    private mutating func take(_ attributes: [Attribute], defaults: SessionDefaults) throws(AttributeFault) {
        var transport = TransportReading()
        var codecs = kind.isRelayed ? CodecReading(formats: formats) : nil
        var sources = SourceReading()
        for attribute in attributes {
            if try codecs?.take(attribute) == true { continue }
            if try sources.take(attribute) { continue }
            if try transport.take(attribute) { continue }
            switch attribute.name {
            case "mid":
                guard let mid = attribute.value, Self.isIdentificationTag(mid) else { throw AttributeFault(attribute) }
                (self.mid, namesMid) = (mid, true)
            case "sendrecv", "sendonly", "recvonly", "inactive":
                direction = MediaDirection(rawValue: attribute.name) ?? direction
            case "bundle-only": isBundleOnly = true
            case "extmap": try extensions.add(reading: attribute)
            case "extmap-allow-mixed": allowsMixedExtensions = true
            case "rtcp-rsize": allowsReducedSizeRTCP = true
            case "ptime": packetTime = attribute.value
            case "maxptime": maximumPacketTime = attribute.value
            default: break
            }
        }
        self.transport = transport.transport.filled(from: defaults.transport)
        self.codecs = codecs?.codecs ?? []
        (self.sources, canonicalName, streamID) = (sources.announced, sources.canonicalName, sources.streamID)
    }
}

extension PeerMedia {
    /// Whether the text is a token (RFC 5888 §4) that is long enough for a UUID. RFC 9143 §5 wants at most three bytes.
    private static func isIdentificationTag(_ mid: String) -> Bool {
        (1...48).contains(mid.utf8.count) && mid.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
