/// Rules for what bots send that all dialects share.
enum StreamField {
    /// The longest text frame, in bytes. Audio of 30 s in Base64 fits; a bot may send more in several frames.
    static let maximumText = 512 * 1_024
    /// The most bytes of audio in a text frame: all of it is Base64.
    static let maximumAudio = maximumText / 4 * 3
    /// The longest name of a mark, in bytes of UTF-8.
    static let maximumName = 256
    /// The most DTMF digits of one command.
    static let maximumKeys = 128

    /// The JSON object in a text frame.
    ///
    /// - Throws: `tooLong`, or `malformed` if it is no JSON object.
    static func object(_ text: String) throws(StreamFault) -> JSONValue {
        try checkLength(text)
        let value = try JSONValue(parsing: text)
        guard case .object = value else { throw StreamFault(.malformed, "the frame is no JSON object") }
        return value
    }

    /// - Throws: `tooLong` if a text frame is too long to be read.
    static func checkLength(_ text: String) throws(StreamFault) {
        guard text.utf8.count <= maximumText else {
            throw StreamFault(.tooLong, "a text frame has at most \(maximumText) bytes, not \(text.utf8.count)")
        }
    }

    /// A text that must be there. `path` names it in faults.
    ///
    /// - Throws: `missingField`, or `invalidValue` if it is no text.
    static func text(_ value: JSONValue?, _ path: String) throws(StreamFault) -> String {
        guard let value else { throw StreamFault(.missingField, "\(path) is missing") }
        guard let text = value.text else { throw StreamFault(.invalidValue, "\(path) must be a string") }
        return text
    }

    /// The name of a mark.
    ///
    /// - Throws: `missingField`, `invalidValue` or `tooLong`.
    static func name(_ value: JSONValue?, _ path: String) throws(StreamFault) -> String {
        let name = try text(value, path)
        guard name.utf8.count <= maximumName else {
            throw StreamFault(.tooLong, "\(path) has at most \(maximumName) bytes")
        }
        return name
    }

    /// DTMF digits and pauses, in upper case.
    ///
    /// - Throws: `missingField`, `invalidValue` or `tooLong`.
    static func keys(_ value: JSONValue?, _ path: String) throws(StreamFault) -> String {
        let keys = try text(value, path).uppercased()
        guard keys.utf8.count <= maximumKeys else {
            throw StreamFault(.tooLong, "\(path) has at most \(maximumKeys) keys")
        }
        guard !keys.isEmpty, keys.utf8.allSatisfy("0123456789ABCD*#,".utf8.contains) else {
            throw StreamFault(
                .invalidValue, "\(path) must have keys out of 0 to 9, A to D, * and #, and commas for pauses")
        }
        return keys
    }
}
