/// Thrown for an attribute whose value cannot be read.
struct AttributeFault: Error {
    /// The name of the attribute. The value is not kept, since it may be a password, a fingerprint or long.
    let name: String

    init(_ attribute: Attribute) { name = attribute.name }
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
