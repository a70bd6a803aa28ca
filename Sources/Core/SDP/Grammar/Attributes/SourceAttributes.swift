package import Primitives

/// The value of `a=ssrc`: an attribute of one source (RFC 5576 §4.1).
package struct SourceAttribute: Hashable, Sendable {
    /// The source that the line describes.
    package var ssrc: SSRC
    /// The attribute of the source; its name is empty if the line contains only the SSRC.
    package var attribute: Attribute

    /// Makes a value of its parts; each parameter is the property of that name.
    package init(_ ssrc: SSRC, _ attribute: Attribute) {
        self.ssrc = ssrc
        self.attribute = attribute
    }

    /// Reads a value such as `3735928559 cname:abc`; `nil` if it does not start with an SSRC.
    package init?(_ value: String) {
        var fields = FieldReader(value)
        guard let number: UInt32 = fields.number() else { return nil }
        ssrc = SSRC(number)
        attribute = Attribute(fields.field(upTo: UInt8(ascii: ":")) ?? "", fields.remainder())
    }

    /// The value of `a=ssrc`.
    package var value: String {
        let name = String(ssrc.rawValue) + " " + attribute.name
        return attribute.value.map { name + ":" + $0 } ?? name
    }
}

/// The value of `a=ssrc-group`: sources that belong together (RFC 5576 §4.2).
package struct SourceGroup: Hashable, Sendable {
    /// The semantics `FID`: a stream and its retransmissions (RFC 4588 §8).
    package static let flowIdentification = "FID"

    /// The relation between the sources, such as `FID`.
    package var semantics: String
    /// The sources in the order of the line.
    package var sources: [SSRC]

    /// Makes a group of its parts; each parameter is the property of that name.
    package init(semantics: String, sources: [SSRC]) {
        self.semantics = semantics
        self.sources = sources
    }

    /// Reads a value such as `FID 1 2`; `nil` if it is malformed.
    package init?(_ value: String) {
        var fields = FieldReader(value)
        guard let semantics = fields.field() else { return nil }
        self.semantics = semantics
        sources = []
        while !fields.isAtEnd {
            guard let number: UInt32 = fields.number() else { return nil }
            sources.append(SSRC(number))
        }
    }

    /// The value of `a=ssrc-group`.
    package var value: String {
        ([semantics] + sources.map { "\($0.rawValue)" }).joined(separator: " ")
    }
}
