import Foundation

/// A JSON value of a body.
package enum BodyValue: Equatable, Sendable, Decodable {
    /// `null`.
    case null
    /// `true` or `false`.
    case flag(Bool)
    /// A number.
    case number(Double)
    /// A text.
    case text(String)
    /// An array or an object, which no field here is.
    case other

    /// Reads a value.
    ///
    /// - Throws: never.
    package init(from decoder: any Decoder) throws {
        guard let container = try? decoder.singleValueContainer() else {
            self = .other
            return
        }
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else {
            self = .other
        }
    }
}

/// The fields of a JSON object. A field that is not known is refused, so that a slip of the pen is noticed.
package struct BodyFields: Equatable, Sendable {
    private let values: [String: BodyValue]

    /// Reads a body.
    ///
    /// - Throws: `request.body_missing`, `request.malformed_json`, or `request.invalid_value` for a field that is not
    ///   known.
    package init(parsing body: [UInt8], known: Set<String>) throws(AdminError) {
        guard !body.isEmpty else { throw AdminError(.requestBodyMissing, "The request needs a JSON body.") }
        guard let values = try? JSONDecoder().decode([String: BodyValue].self, from: Data(body)) else {
            throw AdminError(.requestMalformedJSON, "The body is not a JSON object.")
        }
        try self.init(values, known: known)
    }

    /// Takes the fields of an object.
    ///
    /// - Throws: `request.invalid_value` for a field that is not known.
    package init(_ values: [String: BodyValue], known: Set<String>) throws(AdminError) {
        if let name = values.keys.sorted().first(where: { !known.contains($0) }) {
            throw AdminError(
                .requestInvalidValue,
                "The field \"\(name.prefix(64))\" is not known; use \(known.sorted().joined(separator: ", ")).")
        }
        self.values = values
    }

    /// Whether the field is there, also with `null`.
    package func has(_ name: String) -> Bool { values[name] != nil }

    /// A text; `nil`: the field is not there, or `null`.
    ///
    /// - Throws: `request.invalid_value`.
    package func text(_ name: String) throws(AdminError) -> String? {
        switch values[name] {
        case nil, .null: nil
        case .text(let text): text
        case .flag, .number, .other: throw AdminError(.requestInvalidValue, "The field \"\(name)\" must be a text.")
        }
    }

    /// A text that has to be there.
    ///
    /// - Throws: `request.missing_field`, `request.invalid_value`.
    package func requiredText(_ name: String) throws(AdminError) -> String {
        guard let text = try text(name) else {
            throw AdminError(.requestMissingField, "The field \"\(name)\" is missing.")
        }
        return text
    }

    /// `true` or `false`; `nil`: the field is not there.
    ///
    /// - Throws: `request.invalid_value`.
    package func flag(_ name: String) throws(AdminError) -> Bool? {
        switch values[name] {
        case nil: nil
        case .flag(let flag): flag
        case .null, .text, .number, .other:
            throw AdminError(.requestInvalidValue, "The field \"\(name)\" must be true or false.")
        }
    }

    /// A whole number; `nil`: the field is not there, or `null`.
    ///
    /// - Throws: `request.invalid_value`.
    package func number(_ name: String, in range: ClosedRange<Int64>) throws(AdminError) -> Int64? {
        switch values[name] {
        case nil, .null: return nil
        case .number(let number):
            if let whole = Int64(exactly: number), range.contains(whole) { return whole }
        case .flag, .text, .other: break
        }
        throw AdminError(
            .requestInvalidValue,
            "The field \"\(name)\" must be a whole number from \(range.lowerBound) to \(range.upperBound).")
    }
}
