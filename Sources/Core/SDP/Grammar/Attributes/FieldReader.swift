/// Reads the fields of an attribute's value from left to right.
struct FieldReader {
    private let text: String.UTF8View
    private var position: String.Index

    init(_ text: String) {
        self.text = text.utf8
        position = text.startIndex
    }

    var isAtEnd: Bool { position == text.endIndex }

    /// The next byte, still unread.
    var next: UInt8? { isAtEnd ? nil : text[position] }

    /// The field up to `separator` or the end; the separator is consumed. `nil` when the field is empty.
    mutating func field(upTo separator: UInt8 = UInt8(ascii: " ")) -> String? {
        let start = position
        while position != text.endIndex, text[position] != separator { text.formIndex(after: &position) }
        let end = position
        if position != text.endIndex { text.formIndex(after: &position) }
        return start == end ? nil : String(Substring(text[start..<end]))
    }

    /// A field that is a number in decimal digits only: no sign, no space, no overflow.
    mutating func number<Number: FixedWidthInteger>(upTo separator: UInt8 = UInt8(ascii: " ")) -> Number? {
        let start = position
        var value: Number = 0
        while position != text.endIndex {
            let byte = text[position]
            if byte == separator { break }
            guard let next = value.appending(decimal: byte) else { return nil }
            value = next
            text.formIndex(after: &position)
        }
        guard position != start else { return nil }
        if position != text.endIndex { text.formIndex(after: &position) }
        return value
    }

    /// All that is left; `nil` when nothing is.
    mutating func remainder() -> String? {
        defer { position = text.endIndex }
        return isAtEnd ? nil : String(Substring(text[position...]))
    }
}

extension FixedWidthInteger {
    /// A number written in decimal digits only: no sign, no space, no overflow.
    init?(decimal digits: some Collection<UInt8>) {
        guard !digits.isEmpty else { return nil }
        var value: Self = 0
        for digit in digits {
            guard let next = value.appending(decimal: digit) else { return nil }
            value = next
        }
        self = value
    }

    /// The number with one more decimal digit behind it.
    fileprivate func appending(decimal digit: UInt8) -> Self? {
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
        let (product, productOverflows) = multipliedReportingOverflow(by: 10)
        let (sum, sumOverflows) = product.addingReportingOverflow(Self(digit - UInt8(ascii: "0")))
        return productOverflows || sumOverflows ? nil : sum
    }
}
