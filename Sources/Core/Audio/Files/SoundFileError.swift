/// Why a file cannot be played; the text goes on from "the file cannot be played: …".
package enum SoundFileError: Error, Equatable, Sendable {
    case malformed(String)
    case unsupported(String)

    package var text: String {
        switch self {
        case .malformed(let text), .unsupported(let text): text
        }
    }
}
