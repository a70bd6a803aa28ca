/// Reads the fields of an attribute's value from left to right, without a copy of what is not a field.
struct FieldReader: ~Escapable {
    private let bytes: Span<UInt8>
    private var position = 0

    @_lifetime(borrow text)
    init(_ text: borrowing String) { bytes = text.utf8Span.span }

    var isAtEnd: Bool { position == bytes.count }

    /// The next byte, still unread.
    var next: UInt8? { isAtEnd ? nil : bytes[position] }

    /// Passes over one character, as often as it stands here.
    mutating func skip(_ byte: UInt8) {
        while position < bytes.count, bytes[position] == byte { position += 1 }
    }

    /// Passes over a text if it stands here.
    mutating func take(_ text: String) -> Bool {
        guard text.utf8.count <= bytes.count - position else { return false }
        var end = position
        for byte in text.utf8 {
            guard bytes[end] == byte else { return false }
            end += 1
        }
        position = end
        return true
    }

    /// Passes over a field and the separator behind it.
    mutating func skipField(upTo separator: UInt8) {
        while position < bytes.count, bytes[position] != separator { position += 1 }
        if position < bytes.count { position += 1 }
    }

    /// The field up to `separator` or the end; the separator is consumed. `nil` when the field is empty.
    ///
    /// - Parameter separator: an ASCII character.
    mutating func field(upTo separator: UInt8 = UInt8(ascii: " ")) -> String? {
        let start = position
        while position < bytes.count, bytes[position] != separator { position += 1 }
        let end = position
        if position < bytes.count { position += 1 }
        return start == end ? nil : text(start..<end)
    }

    /// A field that is a number in decimal digits only: no sign, no space, no overflow.
    mutating func number<Number: FixedWidthInteger>(upTo separator: UInt8 = UInt8(ascii: " ")) -> Number? {
        let start = position
        var value: Number = 0
        while position < bytes.count {
            let byte = bytes[position]
            if byte == separator { break }
            guard let next = value.appending(decimal: byte) else { return nil }
            value = next
            position += 1
        }
        guard position != start else { return nil }
        if position < bytes.count { position += 1 }
        return value
    }

    /// All that is left; `nil` when nothing is.
    mutating func remainder() -> String? {
        let start = position
        position = bytes.count
        return start == position ? nil : text(start..<position)
    }

    private func text(_ range: Range<Int>) -> String {
        do {
            return String(copying: try UTF8Span(validating: bytes.extracting(range)))
        } catch {
            preconditionFailure("a text that is cut beside ASCII characters stays well-formed")
        }
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
