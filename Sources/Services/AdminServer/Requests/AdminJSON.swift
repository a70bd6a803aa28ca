import Foundation

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
}
