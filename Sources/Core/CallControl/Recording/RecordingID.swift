/// The name of a recording: that of the leg, `-`, and a number within the leg. It is the name of the recording's file,
/// too, so it has ASCII letters, digits, `-` and `_` alone, at most ``maximumLength`` of them.
package struct RecordingID: Hashable, Sendable, CustomStringConvertible {
    /// The most characters of a name.
    package static let maximumLength = 128

    /// The name.
    package let description: String

    /// The name of a recording of a leg. Other characters than permitted ones are left out of the name of the leg, and
    /// the gateway gives legs no such names.
    ///
    /// - Parameter number: which recording of the leg, from 1.
    package init(_ number: Int, of session: SessionID) {
        let name = session.rawValue.utf8.filter(Self.isPermitted).prefix(Self.maximumLength - 21)
        description = "\(String(decoding: Array(name), as: UTF8.self))-\(number)"
    }

    /// Reads a name; `nil` if the text is none.
    package init?(_ text: String) {
        guard (1...Self.maximumLength).contains(text.utf8.count), text.utf8.allSatisfy(Self.isPermitted) else {
            return nil
        }
        description = text
    }

    private static func isPermitted(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
    }
}
