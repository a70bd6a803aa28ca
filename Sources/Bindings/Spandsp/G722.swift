internal import CSpandsp

/// G.722 at 64 kbit/s: two samples of 16 kHz in a byte (ITU-T G.722, RFC 3551 §4.5.2).
@safe
package struct G722Encoder: ~Copyable {
    private let state: OpaquePointer

    package init() {
        guard let state = unsafe g722_encode_init(nil, 64_000, 0) else {
            preconditionFailure("memory for a G.722 encoder")
        }
        unsafe self.state = state
    }

    deinit { unsafe g722_encode_free(state) }

    /// Encodes an even number of samples to the beginning of `bytes`, which has room for half as many; returns their number.
    package mutating func encode(_ samples: Span<Int16>, into bytes: inout MutableSpan<UInt8>) -> Int {
        precondition(bytes.count >= samples.count / 2, "G.722 makes a byte of two samples")
        let state = unsafe state
        return unsafe samples.withUnsafeBufferPointer { samples in
            unsafe bytes.withUnsafeMutableBufferPointer { bytes in
                Int(unsafe g722_encode(state, bytes.baseAddress, samples.baseAddress, Int32(samples.count)))
            }
        }
    }

    package mutating func reset() { _ = unsafe g722_encode_init(state, 64_000, 0) }
}

/// The other way.
@safe
package struct G722Decoder: ~Copyable {
    private let state: OpaquePointer

    package init() {
        guard let state = unsafe g722_decode_init(nil, 64_000, 0) else {
            preconditionFailure("memory for a G.722 decoder")
        }
        unsafe self.state = state
    }

    deinit { unsafe g722_decode_free(state) }

    /// Decodes to the beginning of `samples`, which has room for two of each byte; returns their number.
    package mutating func decode(_ bytes: Span<UInt8>, into samples: inout MutableSpan<Int16>) -> Int {
        precondition(samples.count >= bytes.count * 2, "a byte of G.722 makes two samples")
        let state = unsafe state
        return unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe samples.withUnsafeMutableBufferPointer { samples in
                Int(unsafe g722_decode(state, samples.baseAddress, bytes.baseAddress, Int32(bytes.count)))
            }
        }
    }

    package mutating func reset() { _ = unsafe g722_decode_init(state, 64_000, 0) }
}
