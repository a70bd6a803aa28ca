/// Why libmpg123 cannot decode a frame, or cannot make a decoder.
package enum MP3Error: Error, Equatable, Sendable {
    /// The bytes are no frame of MP3, or one of another sample rate than the decoder is for.
    case notFrame
    /// Another failure; the value is libmpg123's own code (`mpg123_errors`).
    case failed(Int32)
}
