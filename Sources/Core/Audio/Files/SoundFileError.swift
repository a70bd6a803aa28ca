/// Why a file cannot be played; the text continues the sentence "the file cannot be played: …".
package enum SoundFileError: Error, Equatable, Sendable {
    /// The file is damaged, or is not of the format it claims.
    case malformed(String)
    /// The file is valid, and has a codec, rate or size that the gateway does not play.
    case unsupported(String)

    /// The reason, for the operator's log.
    package var text: String {
        switch self {
        case .malformed(let text), .unsupported(let text): text
        }
    }
}
