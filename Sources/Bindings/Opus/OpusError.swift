internal import COpus

/// Why libopus refused a packet, a buffer or a parameter.
package enum OpusError: Error, Equatable, Sendable {
    /// The bytes are no valid Opus packet (RFC 6716 §3.4).
    case malformed
    /// The buffer is too small for the result.
    case noRoom
    /// Another failure; the value is libopus's own code.
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
