import Primitives

/// Builds the announced sources of an m-line from `a=ssrc`, `a=ssrc-group` and `a=msid`.
struct SourceReading {
    private(set) var canonicalName: String?
    private var streamIDOfMedia: String?
    private var streamIDOfSource: String?
    private var sources: [SSRC] = []
    private var retransmissions: [SSRC: SSRC] = [:]

    /// Takes an attribute of a source; `false` if the attribute is none.
    ///
    /// - Throws: If its value cannot be read.
    mutating func take(_ attribute: Attribute) throws(AttributeFault) -> Bool {
        switch attribute.name {
        case "ssrc":
            guard let value = attribute.value, let source = SourceAttribute(value) else {
                throw AttributeFault(attribute)
            }
            if sources.last != source.ssrc, !sources.contains(source.ssrc) { sources.append(source.ssrc) }
            switch source.attribute.name {
            case "cname": canonicalName = canonicalName ?? source.attribute.value
            case "msid": streamIDOfSource = streamIDOfSource ?? source.attribute.value
            default: break
            }
        case "ssrc-group":
            guard let value = attribute.value, let group = SourceGroup(value) else { throw AttributeFault(attribute) }
            if group.semantics == SourceGroup.flowIdentification, group.sources.count == 2 {
                retransmissions[group.sources[0]] = group.sources[1]
            }
        case "msid": streamIDOfMedia = streamIDOfMedia ?? attribute.value
        default: return false
        }
        return true
    }

    var streamID: String? { streamIDOfMedia ?? streamIDOfSource }

    var announced: [AnnouncedSource] {
        let secondary = Set(retransmissions.values)
        return sources.filter { !secondary.contains($0) }.map {
            AnnouncedSource(ssrc: $0, retransmission: retransmissions[$0])
        }
    }
}
