import Foundation

/// Holds a value against a schema: the part of JSON Schema 2020-12 that our document uses, and a little more. Values
/// are those Yams makes of JSON, which is YAML: it tells booleans from numbers by their Swift types.
///
/// A keyword that is not known here is a complaint of its own, so that nothing in the document is read over.
struct SchemaCheck {
    typealias Object = OpenAPIDocument.Object

    /// Keywords that say nothing about values.
    static let annotations: Set = [
        "description", "title", "example", "examples", "default", "deprecated", "discriminator",
    ]

    let document: OpenAPIDocument

    /// What is wrong, as `path: complaint`; empty if the value fits.
    func complaints(about value: Any, schema node: Any?, at path: String = "$") -> [String] {
        if let allowed = node as? Bool { return allowed ? [] : ["\(path): nothing may stand here"] }
        guard let schema = node as? Object else { return ["\(path): the schema is missing"] }
        return schema.keys.sorted().flatMap { complaints(about: value, keyword: $0, in: schema, at: path) }
    }

    /// What one keyword of a schema has to say. Those that concern strings, numbers, arrays or objects let everything
    /// else pass.
    private func complaints(about value: Any, keyword: String, in schema: Object, at path: String) -> [String] {
        func expect(_ holds: Bool, _ complaint: @autoclosure () -> String) -> [String] {
            holds ? [] : ["\(path): \(complaint())"]
        }
        let parameter = schema[keyword]
        switch keyword {
        case "$ref":
            return complaints(about: value, schema: parameter is String ? document.resolve(schema) : nil, at: path)
        case "type":
            let types = (parameter as? String).map { [$0] } ?? parameter as? [String] ?? []
            return expect(types.contains { isType($0, value) }, "is not \(types)")
        case "const":
            return expect(Self.equal(parameter, value), "is not \(parameter ?? "null")")
        case "enum":
            let choices = parameter as? [Any] ?? []
            return expect(choices.contains { Self.equal($0, value) }, "\(value) is none of the choices")
        case "allOf":
            return options(parameter, value, path).flatMap(\.self)
        case "anyOf":
            let found = options(parameter, value, path)
            return found.contains(where: \.isEmpty) ? [] : found.flatMap(\.self)
        case "oneOf":
            let fitting = options(parameter, value, path).count(where: \.isEmpty)
            return expect(fitting == 1, "fits \(fitting) of the schemas, not one")
        case "not":
            return expect(!complaints(about: value, schema: parameter, at: path).isEmpty, "fits what it must not fit")
        case "pattern":
            guard let text = value as? String, let pattern = parameter as? String else { return [] }
            return expect(text.range(of: pattern, options: .regularExpression) != nil, "does not match \(pattern)")
        case "minLength": return expect(count((value as? String)?.unicodeScalars, atLeast: parameter), "is too short")
        case "maxLength": return expect(count((value as? String)?.unicodeScalars, atMost: parameter), "is too long")
        case "minItems": return expect(count(value as? [Any], atLeast: parameter), "has too few items")
        case "maxItems": return expect(count(value as? [Any], atMost: parameter), "has too many items")
        case "minProperties": return expect(count(value as? Object, atLeast: parameter), "has too few members")
        case "maxProperties": return expect(count(value as? Object, atMost: parameter), "has too many members")
        case "minimum": return expect(compare(value, parameter, >=), "is too small")
        case "maximum": return expect(compare(value, parameter, <=), "is too large")
        case "items":
            return (value as? [Any] ?? []).enumerated().flatMap { index, item in
                complaints(about: item, schema: parameter, at: "\(path)[\(index)]")
            }
        case "required":
            guard let object = value as? Object else { return [] }
            return (parameter as? [String] ?? []).filter { object[$0] == nil }.map { "\(path).\($0): is missing" }
        case "properties":
            let properties = parameter as? Object ?? [:]
            return (value as? Object ?? [:]).sorted { $0.key < $1.key }.flatMap { name, member in
                properties[name].map { complaints(about: member, schema: $0, at: "\(path).\(name)") } ?? []
            }
        case "additionalProperties":
            let described = schema["properties"] as? Object ?? [:]
            let others = (value as? Object ?? [:]).filter { described[$0.key] == nil }
            return others.sorted { $0.key < $1.key }.flatMap { name, member in
                complaints(about: member, schema: parameter, at: "\(path).\(name)")
            }
        case _ where Self.annotations.contains(keyword): return []
        default: return ["\(path): the keyword \(keyword) is unknown to this check"]
        }
    }

    /// What each of several schemas has to say.
    private func options(_ schemas: Any?, _ value: Any, _ path: String) -> [[String]] {
        (schemas as? [Any] ?? []).map { complaints(about: value, schema: $0, at: path) }
    }

    private func count(_ value: (some Collection)?, atLeast limit: Any?) -> Bool {
        value.map { $0.count >= limit as? Int ?? .max } ?? true
    }

    private func count(_ value: (some Collection)?, atMost limit: Any?) -> Bool {
        value.map { $0.count <= limit as? Int ?? -1 } ?? true
    }

    private func compare(_ value: Any, _ limit: Any?, _ holds: (Double, Double) -> Bool) -> Bool {
        guard let number = Self.number(value) else { return true }
        return Self.number(limit).map { holds(number, $0) } ?? false
    }

    private func isType(_ type: String, _ value: Any) -> Bool {
        switch type {
        case "object": value is Object
        case "array": value is [Any]
        case "string": value is String
        case "boolean": value is Bool
        case "null": value is NSNull
        case "integer": value is Int || (value as? Double).map { $0 == $0.rounded() } ?? false
        case "number": value is Int || value is Double
        default: preconditionFailure("unknown type \(type) in the document")
        }
    }

    private static func number(_ value: Any?) -> Double? { (value as? Int).map(Double.init) ?? value as? Double }

    /// Of the same kind and value: 1 is neither "1" nor true.
    private static func equal(_ a: Any?, _ b: Any?) -> Bool {
        switch (a, b) {
        case (let a as Bool, let b as Bool): a == b
        case (let a as String, let b as String): a == b
        case (is NSNull, is NSNull): true
        case (let a as [Any], let b as [Any]): a.count == b.count && zip(a, b).allSatisfy { equal($0, $1) }
        case (let a as Object, let b as Object): a.count == b.count && a.allSatisfy { equal($1, b[$0]) }
        default: number(a).map { $0 == number(b) } ?? false
        }
    }
}

extension SchemaCheck {
    /// Each keyword of each schema in the document, by where it stands: in `components`, and wherever a `schema` is
    /// given.
    var keywords: [(place: String, keyword: String)] {
        let named = document.schemas.flatMap { keywords(of: $1, at: $0) }
        return named + given(in: document.root, at: "")
    }

    private func given(in node: Any, at place: String) -> [(String, String)] {
        if let list = node as? [Any] { return list.enumerated().flatMap { given(in: $1, at: "\(place)/\($0)") } }
        return (node as? Object ?? [:]).flatMap { name, part -> [(String, String)] in
            switch name {
            case "schemas", "example", "examples": []
            case "schema": keywords(of: part, at: place)
            default: given(in: part, at: "\(place)/\(name)")
            }
        }
    }

    private func keywords(of node: Any, at place: String) -> [(String, String)] {
        (node as? Object ?? [:]).flatMap { keyword, parameter -> [(String, String)] in
            let parts: [Any] =
                switch keyword {
                case "properties": (parameter as? Object ?? [:]).map(\.value)
                case "items", "additionalProperties", "not": [parameter]
                case "allOf", "anyOf", "oneOf": parameter as? [Any] ?? []
                default: []
                }
            return [(place, keyword)] + parts.flatMap { keywords(of: $0, at: "\(place).\(keyword)") }
        }
    }
}
