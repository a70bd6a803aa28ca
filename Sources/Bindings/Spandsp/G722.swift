internal import CSpandsp

/// Encodes G.722 at 64 kbit/s: two samples of 16 kHz per byte (ITU-T G.722, RFC 3551 §4.5.2).
@safe
package struct G722Encoder: ~Copyable {
    private let state: OpaquePointer

    /// Makes an encoder; it traps without memory.
    package init() {
        guard let state = unsafe g722_encode_init(nil, 64_000, 0) else {
            preconditionFailure("memory for a G.722 encoder")
        }
        unsafe self.state = state
    }

    deinit { unsafe g722_encode_free(state) }

    /// Encodes an even number of samples to the start of `bytes`, which must have room for half as many bytes. Returns
    /// the number of bytes.
    package mutating func encode(_ samples: Span<Int16>, into bytes: inout MutableSpan<UInt8>) -> Int {
        precondition(bytes.count >= samples.count / 2, "G.722 makes a byte of two samples")
        let state = unsafe state
        return unsafe samples.withUnsafeBufferPointer { samples in
            unsafe bytes.withUnsafeMutableBufferPointer { bytes in
                Int(unsafe g722_encode(state, bytes.baseAddress, samples.baseAddress, Int32(samples.count)))
            }
        }
    }

    /// Forgets the stream, as if nothing had been encoded.
    package mutating func reset() { _ = unsafe g722_encode_init(state, 64_000, 0) }
}

/// Decodes G.722 at 64 kbit/s: two samples of 16 kHz per byte (ITU-T G.722, RFC 3551 §4.5.2).
@safe
package struct G722Decoder: ~Copyable {
    private let state: OpaquePointer

    /// Makes a decoder; it traps without memory.
    package init() {
        guard let state = unsafe g722_decode_init(nil, 64_000, 0) else {
            preconditionFailure("memory for a G.722 decoder")
        }
        unsafe self.state = state
    }

    deinit { unsafe g722_decode_free(state) }

    /// Decodes to the start of `samples`, which must have room for two samples per byte. Returns the number of samples.
    package mutating func decode(_ bytes: Span<UInt8>, into samples: inout MutableSpan<Int16>) -> Int {
        precondition(samples.count >= bytes.count * 2, "a byte of G.722 makes two samples")
        let state = unsafe state
        return unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe samples.withUnsafeMutableBufferPointer { samples in
                Int(unsafe g722_decode(state, samples.baseAddress, bytes.baseAddress, Int32(bytes.count)))
            }
        }
    }

    /// Forgets the stream, as if nothing had been decoded.
    package mutating func reset() { _ = unsafe g722_decode_init(state, 64_000, 0) }
}
