/// What is wrong with a frame of a bot. The stream goes on, and the frame has no effect.
package struct StreamFault: Error, Hashable, Sendable {
    /// What is wrong, in one word that is never reused.
    package enum Code: String, Hashable, Sendable, CaseIterable {
        /// The frame is not in the form of the dialect.
        case malformed
        /// The dialect has no such command.
        case unknownCommand = "unknown_command"
        /// A field is missing.
        case missingField = "missing_field"
        /// A field has a value that is not allowed.
        case invalidValue = "invalid_value"
        /// The frame or a field is too long, or there are too many of something.
        case tooLong = "too_long"
        /// The command exists, but not with this format.
        case unsupported
        /// Audio came for which there was no room.
        case bufferFull = "buffer_full"
    }

    /// What is wrong, in one word.
    package let code: Code
    /// What is wrong, for people: it names the field, and what is allowed.
    package let sentence: String

    /// Makes a fault of its parts; each parameter is the property of that name.
    package init(_ code: Code, _ sentence: String) {
        self.code = code
        self.sentence = sentence
    }
}
