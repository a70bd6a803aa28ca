/// An attribute whose value cannot be read.
struct AttributeFault: Error {
    let attribute: Attribute

    init(_ attribute: Attribute) { self.attribute = attribute }

    /// Passwords and fingerprints are not repeated, and nothing long is.
    var sentence: String { "a=\(attribute.name.prefix(32)) cannot be read" }
}

extension [HeaderExtension] {
    /// Takes the mapping unless its identifier is outside 1…255 or mapped already.
    mutating func add(reading attribute: Attribute) throws(AttributeFault) {
        guard let value = attribute.value, let mapping = HeaderExtension.reading(value) else {
            throw AttributeFault(attribute)
        }
        if let mapping, !contains(where: { $0.id == mapping.id }) { append(mapping) }
    }
}
