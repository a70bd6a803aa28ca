/// Reads the fields of an attribute's value from left to right. Only fields that are returned are copied.
struct FieldReader: ~Escapable {
    private let bytes: Span<UInt8>
    private var position = 0

    @_lifetime(borrow text)
    init(_ text: borrowing String) { bytes = text.utf8Span.span }

    var isAtEnd: Bool { position == bytes.count }

    /// The next byte, which is not consumed; `nil` at the end.
    var next: UInt8? { isAtEnd ? nil : bytes[position] }

    /// Skips all consecutive occurrences of a byte.
    mutating func skip(_ byte: UInt8) {
        while position < bytes.count, bytes[position] == byte { position += 1 }
    }

    /// Skips a text if it is next; returns whether it was.
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

    /// Skips a field and the separator after it.
    mutating func skipField(upTo separator: UInt8) {
        while position < bytes.count, bytes[position] != separator { position += 1 }
        if position < bytes.count { position += 1 }
    }

    /// The field up to `separator` or the end. The separator is consumed. `nil` if the field is empty.
    ///
    /// - Parameter separator: An ASCII character.
    mutating func field(upTo separator: UInt8 = UInt8(ascii: " ")) -> String? {
        let start = position
        while position < bytes.count, bytes[position] != separator { position += 1 }
        let end = position
        if position < bytes.count { position += 1 }
        return start == end ? nil : text(start..<end)
    }

    /// The field as a number of decimal digits; `nil` if it has a sign, a space or an overflow.
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

    /// The rest of the value; `nil` if nothing is left.
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
    /// Reads a number of decimal digits; `nil` if it has a sign, a space or an overflow.
    init?(decimal digits: some Collection<UInt8>) {
        guard !digits.isEmpty else { return nil }
        var value: Self = 0
        for digit in digits {
            guard let next = value.appending(decimal: digit) else { return nil }
            value = next
        }
        self = value
    }

    /// The number with one more decimal digit appended; `nil` on overflow and for other characters.
    fileprivate func appending(decimal digit: UInt8) -> Self? {
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
        let (product, productOverflows) = multipliedReportingOverflow(by: 10)
        let (sum, sumOverflows) = product.addingReportingOverflow(Self(digit - UInt8(ascii: "0")))
        return productOverflows || sumOverflows ? nil : sum
    }
}
