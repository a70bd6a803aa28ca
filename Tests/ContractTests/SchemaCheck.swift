import Foundation

/// Holds a value against a schema: the part of JSON Schema 2020-12 that our document uses. Values are those Yams
/// makes of JSON, which is YAML: it tells booleans from numbers by their Swift types.
struct SchemaCheck {
    let document: OpenAPIDocument

    /// What is wrong, as `path: complaint`; empty if the value fits.
    func complaints(about value: Any, schema node: Any?, at path: String = "$") -> [String] {
        guard let schema = document.resolve(node) else { return ["\(path): the schema is missing"] }
        var found: [String] = []
        if let types = types(schema), !types.contains(where: { isType($0, value) }) { found.append("\(path): is not \(types)") }
        if let constant = schema["const"], !equal(constant, value) { found.append("\(path): is not \(constant)") }
        if let choices = schema["enum"] as? [Any], !choices.contains(where: { equal($0, value) }) {
            found.append("\(path): \(value) is none of the choices")
        }
        if let options = schema["anyOf"] as? [Any] {
            let complaints = options.map { self.complaints(about: value, schema: $0, at: path) }
            if !complaints.contains(where: \.isEmpty) { found += complaints.flatMap { $0 } }
        }
        if let text = value as? String {
            if let pattern = schema["pattern"] as? String, text.range(of: pattern, options: .regularExpression) == nil {
                found.append("\(path): does not match \(pattern)")
            }
            if let minimum = schema["minLength"] as? Int, text.count < minimum { found.append("\(path): is too short") }
        }
        if let number = value as? Int {
            if let minimum = schema["minimum"] as? Int, number < minimum { found.append("\(path): is too small") }
            if let maximum = schema["maximum"] as? Int, number > maximum { found.append("\(path): is too large") }
        }
        if let object = value as? [String: Any] { found += members(object, schema, path) }
        if let array = value as? [Any], let items = schema["items"] {
            for (index, item) in array.enumerated() { found += complaints(about: item, schema: items, at: "\(path)[\(index)]") }
        }
        return found
    }

    private func members(_ object: [String: Any], _ schema: [String: Any], _ path: String) -> [String] {
        let properties = schema["properties"] as? [String: Any] ?? [:]
        var found = (schema["required"] as? [String] ?? []).filter { object[$0] == nil }.map { "\(path).\($0): is missing" }
        for (name, value) in object {
            if let property = properties[name] {
                found += complaints(about: value, schema: property, at: "\(path).\(name)")
            } else if schema["additionalProperties"] as? Bool == false {
                found.append("\(path).\(name): is not described")
            }
        }
        return found
    }

    private func types(_ schema: [String: Any]) -> [String]? {
        (schema["type"] as? String).map { [$0] } ?? schema["type"] as? [String]
    }

    private func isType(_ type: String, _ value: Any) -> Bool {
        switch type {
        case "object": value is [String: Any]
        case "array": value is [Any]
        case "string": value is String
        case "boolean": value is Bool
        case "null": value is NSNull
        case "integer": value is Int
        case "number": value is Int || value is Double
        default: preconditionFailure("unknown type \(type) in the document")
        }
    }

    private func equal(_ a: Any, _ b: Any) -> Bool { "\(a)" == "\(b)" }
}
