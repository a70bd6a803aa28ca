internal import CSpeexDSP

/// Brings samples from one rate to another, one channel, without allocating.
@safe
package struct Resampler: ~Copyable {
    private let state: OpaquePointer

    /// - Parameters:
    ///   - input: hertz.
    ///   - output: hertz.
    ///   - quality: 0…10; 3 is speexdsp's choice for voice.
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

    /// Resamples as much of `input` as fits `output`; returns how much was taken and how much was made.
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

    package mutating func reset() {
        unsafe speex_resampler_reset_mem(state)
    }
}
