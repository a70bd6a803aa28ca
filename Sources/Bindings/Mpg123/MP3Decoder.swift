internal import CMpg123

/// Decodes the frames of an MP3 stream, MPEG-1, MPEG-2 or MPEG-2.5 audio of layer III (ISO/IEC 11172-3, 13818-3), to
/// samples of the stream's own rate in one channel or in two interleaved ones, left first.
///
/// It belongs to one thread. What is sent to it is never searched for frames: each input is one frame.
@safe
package struct MP3Decoder: ~Copyable {
    /// The most samples per channel of a frame.
    package static let longestFrame = 1_152

    private let handle: OpaquePointer

    /// Whether libmpg123 was initialised; the first access initialises it. Versions before 1.27 need that.
    private static let isReady = mpg123_init() == MPG123_OK.rawValue

    /// Makes a decoder of one stream.
    ///
    /// - Parameters:
    ///   - rate: The sample rate of the stream in Hz, one of the nine of MPEG audio, 8,000…48,000.
    ///   - channels: The number of channels of the output, 1 or 2.
    /// - Throws: `MP3Error.failed` if libmpg123 refuses or has no memory.
    package init(rate: Int, channels: Int) throws(MP3Error) {
        guard Self.isReady else { throw .failed(MPG123_NOT_INITIALIZED.rawValue) }
        var code: Int32 = 0
        guard let handle = unsafe mpg123_new(nil, &code) else { throw .failed(code) }
        let codes = unsafe [
            cmpg123_expect_frames(handle), mpg123_format_none(handle), cmpg123_accept(handle, rate, Int32(channels)),
            mpg123_open_feed(handle),
        ]
        guard codes.allSatisfy({ $0 == MPG123_OK.rawValue }) else {
            code = unsafe mpg123_errcode(handle)
            unsafe mpg123_delete(handle)
            throw .failed(code)
        }
        unsafe self.handle = handle
    }

    deinit { unsafe mpg123_delete(handle) }

    /// Decodes one frame to the start of `samples`, which has room for `longestFrame` samples of each channel. What a
    /// damaged frame lacks is silence.
    ///
    /// - Returns: The number of samples of all channels.
    /// - Throws: `notFrame` if the bytes do not start a frame, or not a whole one; `failed` for another code of
    ///   libmpg123. The decoder is of no use after either.
    package mutating func decode(_ frame: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(MP3Error) -> Int {
        let handle = unsafe handle
        var made = 0
        let result = unsafe frame.withUnsafeBufferPointer { frame in
            unsafe samples.withUnsafeMutableBufferPointer { samples in
                let result = unsafe cmpg123_decode(
                    handle, frame.baseAddress, frame.count, samples.baseAddress, samples.count, &made)
                // The format of the first frame is told in place of its samples.
                guard result == MPG123_NEW_FORMAT.rawValue else { return result }
                return unsafe cmpg123_decode(handle, nil, 0, samples.baseAddress, samples.count, &made)
            }
        }
        switch result {
        case MPG123_OK.rawValue, MPG123_NEED_MORE.rawValue:
            guard made > 0 else { throw .notFrame }
            return made
        default: throw .failed(unsafe mpg123_errcode(handle))
        }
    }
}
