/// A key that is known only at run time, such as the one top-level key of a body.
struct WireKey: CodingKey {
    let stringValue: String

    init(_ name: String) { stringValue = name }

    init(stringValue: String) { self.stringValue = stringValue }

    var intValue: Int? { nil }

    init?(intValue: Int) { nil }
}
