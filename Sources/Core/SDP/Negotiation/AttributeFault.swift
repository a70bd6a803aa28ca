/// Thrown for an attribute whose value cannot be read.
struct AttributeFault: Error {
    let attribute: Attribute

    init(_ attribute: Attribute) { self.attribute = attribute }

    /// The fault as a clause for an error message. The value is not repeated, since it may be a password, a fingerprint
    /// or long.
    var sentence: String { "a=\(attribute.name.prefix(32)) cannot be read" }
}

extension [HeaderExtension] {
    /// Adds a mapping unless its id is outside 1…255 or already mapped.
    ///
    /// - Throws: If the value is no mapping.
    mutating func add(reading attribute: Attribute) throws(AttributeFault) {
        guard let value = attribute.value, let mapping = HeaderExtension.reading(value) else {
            throw AttributeFault(attribute)
        }
        if let mapping, !contains(where: { $0.id == mapping.id }) { append(mapping) }
    }
}
