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
    /// An array.
    case list([BodyValue])
    /// An object.
    case object([String: BodyValue])

    /// Reads a value.
    ///
    /// - Throws: `DecodingError` if it is no JSON value.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let list = try? container.decode([BodyValue].self) {
            self = .list(list)
        } else {
            self = .object(try container.decode([String: BodyValue].self))
        }
    }
}

extension BodyValue: Encodable {
    /// Writes the value.
    ///
    /// - Throws: what the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .flag(let flag): try container.encode(flag)
        case .number(let number):
            // A whole number is written without a fraction.
            if let whole = Int64(exactly: number) { try container.encode(whole) } else { try container.encode(number) }
        case .text(let text): try container.encode(text)
        case .list(let list): try container.encode(list)
        case .object(let members): try container.encode(members)
        }
    }
}

/// The fields of a JSON object. A field that is not known is refused, so that a slip of the pen is noticed. `Failure`
/// is what is thrown if they cannot be read.
package struct RequestFields<Failure: RequestRefusal>: Equatable, Sendable {
    private let values: [String: BodyValue]
    /// What stands in front of the names in sentences: where in the body the object is, such as `items[2].`.
    private let prefix: String

    /// Reads a body.
    ///
    /// - Parameter isOptional: whether no body is the same as an empty object.
    /// - Throws: `request.body_missing`, `request.malformed_json`, or `request.invalid_value` for a field that is not
    ///   known.
    package init(parsing body: [UInt8], known: Set<String>, isOptional: Bool = false) throws(Failure) {
        if body.isEmpty, isOptional {
            try self.init([:], known: known)
            return
        }
        guard !body.isEmpty else { throw Failure(.bodyMissing, "The request needs a JSON body.") }
        guard let values = try? JSONDecoder().decode([String: BodyValue].self, from: Data(body)) else {
            throw Failure(.malformedJSON, "The body is not a JSON object.")
        }
        try self.init(values, known: known)
    }

    /// Takes the fields of an object.
    ///
    /// - Parameter place: where in the body the object is, such as `items[2]`; empty: it is the body.
    /// - Throws: `request.invalid_value` for a field that is not known.
    package init(_ values: [String: BodyValue], known: Set<String>, at place: String = "") throws(Failure) {
        prefix = place.isEmpty ? "" : place + "."
        if let name = values.keys.sorted().first(where: { !known.contains($0) }) {
            throw Failure(
                .invalidValue,
                "The field \"\(prefix)\(name.prefix(64))\" is not known; use \(known.sorted().joined(separator: ", "))."
            )
        }
        self.values = values
    }

    /// Whether the field is there, also with `null`.
    package func has(_ name: String) -> Bool { values[name] != nil }

    /// The value of a field; `nil`: it is not there, or `null`.
    package func value(_ name: String) -> BodyValue? {
        switch values[name] {
        case nil, .null: nil
        case .some(let value): value
        }
    }

    /// Where in the body a field is.
    package func place(_ name: String) -> String { prefix + name }

    /// The refusal of a field.
    ///
    /// - Parameter rule: what the field must be, such as `must be a text`.
    package func refusal(_ name: String, _ rule: String) -> Failure {
        Failure(.invalidValue, "The field \"\(prefix)\(name)\" \(rule).")
    }

    /// A text; `nil`: the field is not there, or `null`.
    ///
    /// - Throws: `request.invalid_value`.
    package func text(_ name: String) throws(Failure) -> String? {
        switch value(name) {
        case nil: nil
        case .text(let text): text
        case .some: throw refusal(name, "must be a text")
        }
    }

    /// A text that has to be there.
    ///
    /// - Throws: `request.missing_field`, `request.invalid_value`.
    package func requiredText(_ name: String) throws(Failure) -> String {
        guard let text = try text(name) else { throw missing(name) }
        return text
    }

    /// The refusal of an object in which a field is missing.
    package func missing(_ name: String) -> Failure {
        Failure(.missingField, "The field \"\(prefix)\(name)\" is missing.")
    }

    /// `true` or `false`; `nil`: the field is not there.
    ///
    /// - Throws: `request.invalid_value`.
    package func flag(_ name: String) throws(Failure) -> Bool? {
        switch values[name] {
        case nil: nil
        case .flag(let flag): flag
        case .some: throw refusal(name, "must be true or false")
        }
    }

    /// A whole number; `nil`: the field is not there, or `null`.
    ///
    /// - Throws: `request.invalid_value`.
    package func number(_ name: String, in range: ClosedRange<Int64>) throws(Failure) -> Int64? {
        switch value(name) {
        case nil: return nil
        case .number(let number):
            if let whole = Int64(exactly: number), range.contains(whole) { return whole }
        case .some: break
        }
        throw refusal(name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
    }

    /// A number, whole or not; `nil`: the field is not there, or `null`.
    ///
    /// - Throws: `request.invalid_value`.
    package func amount(_ name: String, in range: ClosedRange<Double>) throws(Failure) -> Double? {
        switch value(name) {
        case nil: return nil
        case .number(let number): if range.contains(number) { return number }
        case .some: break
        }
        throw refusal(name, "must be a number from \(range.lowerBound) to \(range.upperBound)")
    }

    /// One of several words; `nil`: the field is not there, or `null`.
    ///
    /// - Throws: `request.invalid_value` for another word.
    package func word<Word: RawRepresentable & CaseIterable>(_ name: String, _: Word.Type) throws(Failure) -> Word?
    where Word.RawValue == String {
        guard let text = try text(name) else { return nil }
        guard let word = Word(rawValue: text) else {
            throw refusal(name, "must be one of \(Word.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return word
    }

    /// Texts; `nil`: the field is not there, or `null`.
    ///
    /// - Throws: `request.invalid_value`.
    package func texts(_ name: String, atMost limit: Int) throws(Failure) -> [String]? {
        guard let value = value(name) else { return nil }
        let rule = "must be an array of at most \(limit) texts"
        guard case .list(let list) = value, list.count <= limit else { throw refusal(name, rule) }
        var texts: [String] = []
        for element in list {
            guard case .text(let text) = element else { throw refusal(name, rule) }
            texts.append(text)
        }
        return texts
    }

    /// An object of texts by any names; `nil`: the field is not there, or `null`.
    ///
    /// - Throws: `request.invalid_value`.
    package func namedTexts(_ name: String, atMost limit: Int) throws(Failure) -> [String: String]? {
        guard let value = value(name) else { return nil }
        guard case .object(let members) = value, members.count <= limit else {
            throw refusal(name, "must be an object of at most \(limit) texts")
        }
        var texts: [String: String] = [:]
        for key in members.keys.sorted() {
            guard case .text(let text)? = members[key] else {
                throw refusal("\(name).\(key.prefix(64))", "must be a text")
            }
            texts[key] = text
        }
        return texts
    }

    /// An object; `nil`: the field is not there, or `null`.
    ///
    /// - Throws: `request.invalid_value`, also for a field in it that is not known.
    package func object(_ name: String, known: Set<String>) throws(Failure) -> RequestFields? {
        guard let value = value(name) else { return nil }
        guard case .object(let values) = value else { throw refusal(name, "must be an object") }
        return try RequestFields(values, known: known, at: prefix + name)
    }

    /// Objects; `nil`: the field is not there, or `null`.
    ///
    /// - Throws: `request.invalid_value`, also for a field in one of them that is not known.
    package func objects(
        _ name: String, known: Set<String>, in count: ClosedRange<Int>
    ) throws(Failure) -> [RequestFields]? {
        guard let value = value(name) else { return nil }
        guard case .list(let list) = value, count.contains(list.count) else {
            throw refusal(name, "must be an array of \(count.lowerBound) to \(count.upperBound) objects")
        }
        var objects: [RequestFields] = []
        for (index, element) in list.enumerated() {
            guard case .object(let values) = element else {
                throw refusal("\(name)[\(index)]", "must be an object")
            }
            objects.append(try RequestFields(values, known: known, at: "\(prefix)\(name)[\(index)]"))
        }
        return objects
    }
}
