package import Primitives

/// The value of `a=ssrc`: an attribute of one source (RFC 5576 §4.1).
package struct SourceAttribute: Hashable, Sendable {
    package var ssrc: SSRC
    /// What is said about the source; `Attribute("")` when the line names it only.
    package var attribute: Attribute

    package init(_ ssrc: SSRC, _ attribute: Attribute) {
        self.ssrc = ssrc
        self.attribute = attribute
    }

    package init?(_ value: String) {
        var fields = FieldReader(value)
        guard let number: UInt32 = fields.number() else { return nil }
        ssrc = SSRC(number)
        attribute = Attribute(fields.field(upTo: UInt8(ascii: ":")) ?? "", fields.remainder())
    }

    package var value: String {
        let name = String(ssrc.rawValue) + " " + attribute.name
        return attribute.value.map { name + ":" + $0 } ?? name
    }
}

/// The value of `a=ssrc-group`: sources that belong together (RFC 5576 §4.2).
package struct SourceGroup: Hashable, Sendable {
    /// `FID` ties a stream to its retransmissions (RFC 4588 §8).
    package static let flowIdentification = "FID"

    package var semantics: String
    package var sources: [SSRC]

    package init(semantics: String, sources: [SSRC]) {
        self.semantics = semantics
        self.sources = sources
    }

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

    package var value: String {
        ([semantics] + sources.map { "\($0.rawValue)" }).joined(separator: " ")
    }
}
