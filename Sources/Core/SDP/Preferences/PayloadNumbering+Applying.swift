import Primitives

extension PayloadNumbering {
    /// Replaces the payload types of the call by those of the leg in a description that is about to be sent: in
    /// formats, `a=rtpmap`, `a=rtcp-fb` and `a=fmtp`, including `apt`. Everything else stays unchanged and in order.
    package func apply(to media: inout MediaDescription) {
        guard !isIdentity else { return }
        var names: [PayloadType: String] = [:]
        for case let map? in media.attributes.values(of: "rtpmap").map(RTPMap.init) {
            names[map.payloadType] = map.name
        }
        media.formats = media.formats.map { format in
            PayloadType(text: format).map { String(onLeg($0).rawValue) } ?? format
        }
        for index in media.attributes.indices {
            let attribute = media.attributes[index]
            guard ["rtpmap", "fmtp", "rtcp-fb"].contains(attribute.name), let value = attribute.value else { continue }
            let parts = value.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let payloadType = PayloadType(text: parts[0]) else { continue }
            var rest = String(parts[1])
            if attribute.name == "fmtp", let name = names[payloadType] {
                rest = Self.parameters(rest, of: name, mapped: onLeg)
            }
            media.attributes[index].value = "\(onLeg(payloadType).rawValue) \(rest)"
        }
    }

    /// The codecs in the payload types of the leg.
    func onLeg(_ codecs: [Codec]) -> [Codec] { isIdentity ? codecs : codecs.map { Self.mapped($0, onLeg) } }

    /// The codecs of the leg's peer in the payload types of the call.
    func inCall(_ codecs: [Codec]) -> [Codec] { isIdentity ? codecs : codecs.map { Self.mapped($0, inCall) } }

    private static func mapped(_ codec: Codec, _ map: (PayloadType) -> PayloadType) -> Codec {
        var codec = codec
        codec.payloadType = map(codec.payloadType)
        codec.parameters = codec.parameters.map { parameters($0, of: codec.name, mapped: map) }
        return codec
    }

    /// Maps the payload types in the format parameters of the two formats that have any: `apt` of rtx (RFC 4588 §8.1)
    /// and the list of red (RFC 2198 §5).
    private static func parameters(_ text: String, of name: String, mapped map: (PayloadType) -> PayloadType) -> String
    {
        switch name.lowercased() {
        case "rtx":
            var parameters = FormatParameters(text)
            guard let payloadType = parameters["apt"].flatMap(PayloadType.init(text:)) else { return text }
            parameters["apt"] = String(map(payloadType).rawValue)
            return parameters.text
        case "red":
            return text.split(separator: "/", omittingEmptySubsequences: false)
                .map { part in PayloadType(text: part).map { String(map($0).rawValue) } ?? String(part) }
                .joined(separator: "/")
        default: return text
        }
    }
}

extension PeerDescription {
    /// The description of a renumbered leg's peer in the payload types of the call.
    func inCall(_ legNumbering: LegNumbering) -> PeerDescription {
        guard !legNumbering.isIdentity else { return self }
        var description = self
        for index in media.indices {
            let numbering = legNumbering[media[index].mid]
            let codecs = numbering.inCall(media[index].codecs)
            description.media[index].codecs = codecs.filter { !numbering.breaksRedundancy($0) }.withoutOrphans()
        }
        return description
    }
}

extension NegotiatedLeg {
    /// The agreement in the payload types of the leg, for the media plane. Each m-line contains the mapping to those of
    /// the call.
    func onLeg(_ legNumbering: LegNumbering) -> NegotiatedLeg {
        guard !legNumbering.isIdentity else { return self }
        var leg = self
        for index in media.indices {
            let numbering = legNumbering[media[index].mid]
            leg.media[index].codecs = numbering.onLeg(media[index].codecs)
            leg.media[index].furtherCodecs = numbering.onLeg(media[index].furtherCodecs)
            leg.media[index].describedCodecs = media[index].describedCodecs.map(numbering.onLeg)
            leg.media[index].numbering = numbering
        }
        return leg
    }
}

extension PayloadType {
    fileprivate init?(text: some StringProtocol) {
        guard let number = Int(decimal: Array(text.utf8)) else { return nil }
        self.init(number)
    }
}
