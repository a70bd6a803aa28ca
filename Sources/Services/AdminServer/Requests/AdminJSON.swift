import Foundation
import GatewayAPI

/// How answers are written: members in alphabetical order, absent ones left out.
enum AdminJSON {
    static func encode(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(value))
        } catch {
            preconditionFailure("a field of an answer cannot be written: \(error)")
        }
    }

    /// A written object without one of its members; nothing if it is no object.
    static func without(_ name: String, _ body: [UInt8]) -> [UInt8] {
        guard var members = try? JSONDecoder().decode([String: BodyValue].self, from: Data(body)) else { return [] }
        members[name] = nil
        return encode(members)
    }
}
