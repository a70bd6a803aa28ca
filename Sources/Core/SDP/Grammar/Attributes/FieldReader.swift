/// Reads the fields of an attribute's value from left to right.
struct FieldReader {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text[...].utf8 }

    var isAtEnd: Bool { rest.isEmpty }

    /// The field up to `separator` or the end; the separator is consumed. `nil` when the field is empty.
    mutating func field(upTo separator: Unicode.Scalar = " ") -> String? {
        let end = rest.firstIndex(of: UInt8(ascii: separator)) ?? rest.endIndex
        let field = rest[..<end]
        rest = end == rest.endIndex ? rest[end...] : rest[rest.index(after: end)...]
        return field.isEmpty ? nil : String(Substring(field))
    }

    /// A field that is a decimal number.
    mutating func number<Number: FixedWidthInteger>(upTo separator: Unicode.Scalar = " ") -> Number? {
        let end = rest.firstIndex(of: UInt8(ascii: separator)) ?? rest.endIndex
        guard let number = Number(decimal: rest[..<end]) else { return nil }
        rest = end == rest.endIndex ? rest[end...] : rest[rest.index(after: end)...]
        return number
    }

    /// All that is left; `nil` when nothing is.
    mutating func remainder() -> String? {
        defer { rest = rest[rest.endIndex...] }
        return rest.isEmpty ? nil : String(Substring(rest))
    }
}

extension FixedWidthInteger {
    /// A number written in decimal digits only: no sign, no space, no overflow.
    init?(decimal digits: some Collection<UInt8>) {
        guard !digits.isEmpty else { return nil }
        var value: Self = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            let (product, productOverflows) = value.multipliedReportingOverflow(by: 10)
            let (sum, sumOverflows) = product.addingReportingOverflow(Self(digit - UInt8(ascii: "0")))
            guard !productOverflows, !sumOverflows else { return nil }
            value = sum
        }
        self = value
    }
}
