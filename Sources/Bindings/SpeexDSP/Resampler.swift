internal import CSpeexDSP

/// Converts the sampling rate of one channel without allocating.
@safe
package struct Resampler: ~Copyable {
    private let state: OpaquePointer

    /// Makes a resampler; rates or a quality that speexdsp refuses trap.
    ///
    /// - Parameters:
    ///   - input: The rate of the input in hertz.
    ///   - output: The rate of the output in hertz.
    ///   - quality: 0…10; 5 unless given, and 3 is the choice of speexdsp for voice.
    package init(from input: Int, to output: Int, quality: Int = 5) {
        var code: Int32 = 0
        guard
            let state = unsafe speex_resampler_init(1, spx_uint32_t(input), spx_uint32_t(output), Int32(quality), &code)
        else {
            preconditionFailure("a resampler for rates that exist: \(code)")
        }
        unsafe self.state = state
    }

    deinit { unsafe speex_resampler_destroy(state) }

    /// Resamples as much of `input` as fits `output`. Returns the number of samples taken from `input` and made in
    /// `output`.
    package mutating func process(_ input: Span<Int16>, into output: inout MutableSpan<Int16>) -> (
        taken: Int, made: Int
    ) {
        let state = unsafe state
        var (taken, made) = (spx_uint32_t(input.count), spx_uint32_t(output.count))
        unsafe input.withUnsafeBufferPointer { input in
            unsafe output.withUnsafeMutableBufferPointer { output in
                _ = unsafe speex_resampler_process_int(state, 0, input.baseAddress, &taken, output.baseAddress, &made)
            }
        }
        return (Int(taken), Int(made))
    }

    /// Forgets the samples before, as if nothing had been resampled.
    package mutating func reset() {
        unsafe speex_resampler_reset_mem(state)
    }
}
