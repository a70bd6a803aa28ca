internal import COpus

package enum OpusError: Error, Equatable, Sendable {
    /// Not an Opus packet (RFC 6716 §3.4).
    case malformed
    /// The buffer is too small for what has to go in.
    case noRoom
    /// libopus' own code.
    case failed(Int32)

    init(_ code: Int32) {
        self =
            switch code {
            case OPUS_INVALID_PACKET: .malformed
            case OPUS_BUFFER_TOO_SMALL: .noRoom
            default: .failed(code)
            }
    }
}
