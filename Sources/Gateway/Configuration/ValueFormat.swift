import Primitives

/// How one type of value is written and read.
struct ValueFormat<Value>: Sendable {
    /// Completes the sentence "… is not …".
    let expectation: String
    let parse: @Sendable (ConfigurationValue) -> Value?
    let write: @Sendable (Value) -> ConfigurationValue

    init(
        _ expectation: String, parse: @escaping @Sendable (ConfigurationValue) -> Value?,
        write: @escaping @Sendable (Value) -> ConfigurationValue
    ) {
        self.expectation = expectation
        self.parse = parse
        self.write = write
    }

    /// A format for one text; a list is refused.
    init(
        _ expectation: String, parseText: @escaping @Sendable (String) -> Value?,
        writeText: @escaping @Sendable (Value) -> String
    ) {
        self.init(
            expectation,
            parse: { value in
                guard case .text(let text) = value else { return nil }
                return parseText(text)
            },
            write: { .text(writeText($0)) })
    }
}

extension ValueFormat where Value: Sendable {
    /// The same format, with one more word that stands for `nil`.
    func orNone(_ word: String, _ meaning: String) -> ValueFormat<Value?> {
        ValueFormat<Value?>(
            "\(expectation), or \(word) (\(meaning))",
            parse: { text in
                if text == .text(word) { return .some(nil) }
                guard let value = self.parse(text) else { return nil }
                return .some(value)
            },
            write: { $0.map(self.write) ?? .text(word) })
    }
}

extension ValueFormat<UInt16> {
    static let port = ValueFormat(
        "a port from 0 to 65535 (0: any free one)", parseText: { UInt16(digits: $0) }, writeText: { String($0) })
}

extension ValueFormat<Int> {
    static func count(_ range: ClosedRange<Int>) -> Self {
        Self(
            "a whole number from \(range.lowerBound) to \(range.upperBound)",
            parseText: { Int(digits: $0).flatMap { range.contains($0) ? $0 : nil } }, writeText: { String($0) })
    }
}

extension FixedWidthInteger {
    /// Reads decimal digits and nothing else: no sign, no blank.
    fileprivate init?(digits text: String) {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        self.init(text)
    }
}

extension ValueFormat<String> {
    static let path = ValueFormat(
        "a path", parseText: { $0.isEmpty || $0.contains("\0") ? nil : $0 }, writeText: { $0 })

    static let host = ValueFormat(
        "a host name or an IP address",
        parseText: { text in
            let isName =
                !text.isEmpty && text.utf8.count <= 253
                && text.unicodeScalars.allSatisfy { scalar in
                    scalar.isASCII
                        && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                            || "-._".unicodeScalars.contains(scalar))
                }
            return isName || IPAddress(text) != nil ? text : nil
        },
        writeText: { $0 })

    static let domain = ValueFormat(
        "a domain, such as example.com",
        parseText: { text in
            guard !text.contains(":"), host.parse(.text(text)) != nil else { return nil }
            return text.lowercased()
        },
        writeText: { $0 })
}

extension ValueFormat where Value: CaseIterable & RawRepresentable & Sendable, Value.RawValue == String {
    static var choice: Self {
        Self(
            "one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))", parseText: { Value(rawValue: $0) },
            writeText: { $0.rawValue })
    }
}

extension ValueFormat<[IPAddress]> {
    /// IP addresses. `auto` stands for the empty list. One address may be written without brackets. In environment and
    /// flags, commas separate addresses.
    static let addresses = ValueFormat(
        "a list of IP addresses, or auto",
        parse: { value in
            let items: [String]
            switch value {
            case .text("auto"): return []
            case .text(let text): items = text.items
            case .list(let list): items = list
            }
            let addresses = items.compactMap { IPAddress($0) }
            return addresses.count == items.count && !addresses.isEmpty ? addresses : nil
        },
        write: { $0.isEmpty ? .text("auto") : .list($0.map(\.description)) })
}

extension ValueFormat<[IPAddressRange]> {
    /// Ranges of IP addresses. `none` stands for the empty list. One range may be written without brackets. In
    /// environment and flags, commas separate ranges.
    static let addressRanges = ValueFormat(
        "a list of IP addresses and ranges such as 10.0.0.0/8, or none",
        parse: { value in
            let items: [String]
            switch value {
            case .text("none"): return []
            case .text(let text): items = text.items
            case .list(let list): items = list
            }
            let ranges = items.compactMap { IPAddressRange($0) }
            return ranges.count == items.count && !ranges.isEmpty ? ranges : nil
        },
        write: { $0.isEmpty ? .text("none") : .list($0.map(\.description)) })
}

extension String {
    /// The texts between the commas, without the blanks around them.
    fileprivate var items: [String] {
        split(separator: ",", omittingEmptySubsequences: false).map {
            String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
    }
}
