import Foundation

/// A JSON value of an answer, for people to read.
package enum JSONValue: Decodable, Equatable, Sendable, CustomStringConvertible {
    /// `null`.
    case null
    /// `true` or `false`.
    case flag(Bool)
    /// A number without a fraction.
    case integer(Int64)
    /// A number with a fraction.
    case number(Double)
    /// A text.
    case text(String)
    /// An array.
    case list([JSONValue])
    /// An object.
    case object([String: JSONValue])

    /// Reads a value.
    ///
    /// - Throws: `DecodingError`.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // A failed attempt says that the value is of another kind; the last one throws.
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let integer = try? container.decode(Int64.self) {
            self = .integer(integer)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let list = try? container.decode([JSONValue].self) {
            self = .list(list)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    /// Reads a text of JSON.
    ///
    /// - Throws: ``AdminClient/Failure`` if it is none.
    package init(parsing bytes: [UInt8]) throws(AdminClient.Failure) {
        do {
            self = try JSONDecoder().decode(JSONValue.self, from: Data(bytes))
        } catch {
            throw AdminClient.Failure(description: "the gateway's answer is not JSON")
        }
    }

    /// A member of an object, or `null`.
    package subscript(name: String) -> JSONValue {
        if case .object(let members) = self { members[name] ?? .null } else { .null }
    }

    /// The elements of a list; none of anything else.
    package var elements: [JSONValue] { if case .list(let list) = self { list } else { [] } }

    /// The text; `nil` for anything else.
    package var text: String? { if case .text(let text) = self { text } else { nil } }

    /// The value in one line; nothing for `null`.
    package var description: String {
        switch self {
        case .null: ""
        case .flag(let flag): flag ? "yes" : "no"
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .text(let text): text
        case .list(let list): list.map(\.description).joined(separator: ", ")
        case .object(let members):
            members.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        }
    }

    /// Milliseconds since 1970 as a time that people read, in UTC; the value itself if it is no number.
    package var time: String {
        guard case .integer(let milliseconds) = self else { return description }
        return Date(timeIntervalSince1970: Double(milliseconds) / 1_000).formatted(.iso8601)
    }
}
