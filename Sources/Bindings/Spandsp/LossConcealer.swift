internal import CSpandsp

/// Packet loss concealment for samples of 8 kHz: repeats the last pitch period and fades out (similar to ITU-T G.711
/// Appendix I).
///
/// The type works around two faults of spandsp 0.0.6. spandsp blends the first quarter of a pitch period, up to 30
/// samples, into the given buffer, even if the buffer is shorter; shorter buffers are therefore filled from a buffer of
/// this type. spandsp also rotates its history by a `memcpy` between overlapping ranges; the history is therefore
/// rotated here first.
@safe
package struct LossConcealer: ~Copyable {
    /// `PLC_PITCH_OVERLAP_MAX`: a call writes at most this number of samples, or the number that was requested if that
    /// is greater.
    private static let overlap = 30

    private let state: UnsafeMutablePointer<plc_state_t>
    private var scratch = [Int16](repeating: 0, count: overlap)

    /// Makes a concealer without history; it traps without memory.
    package init() {
        guard let state = unsafe plc_init(nil) else { preconditionFailure("memory for a concealer") }
        unsafe self.state = state
    }

    deinit { unsafe plc_free(state) }

    /// Takes received samples into the history, and smooths the first of them after a loss.
    package mutating func receive(_ samples: inout MutableSpan<Int16>) {
        let state = unsafe state
        unsafe samples.withUnsafeMutableBufferPointer { samples in
            _ = unsafe plc_rx(state, samples.baseAddress, Int32(samples.count))
        }
    }

    /// Fills all of `samples` in place of lost ones.
    package mutating func conceal(into samples: inout MutableSpan<Int16>) {
        unsafe Self.linearizeHistory(state)
        if samples.count < Self.overlap {
            unsafe Self.fill(&scratch, samples.count, with: state)
            for index in samples.indices { samples[index] = scratch[index] }
            return
        }
        let state = unsafe state
        unsafe samples.withUnsafeMutableBufferPointer { samples in
            _ = unsafe plc_fillin(state, samples.baseAddress, Int32(samples.count))
        }
    }

    private static func fill(_ scratch: inout [Int16], _ count: Int, with state: UnsafeMutablePointer<plc_state_t>) {
        unsafe scratch.withUnsafeMutableBufferPointer { scratch in
            _ = unsafe plc_fillin(state, scratch.baseAddress, Int32(count))
        }
    }

    /// Rotates the ring of past samples so that it starts at its first element.
    private static func linearizeHistory(_ state: UnsafeMutablePointer<plc_state_t>) {
        let start = Int(unsafe state.pointee.buf_ptr)
        guard start > 0 else { return }
        unsafe withUnsafeMutableBytes(of: &state.pointee.history) { bytes in
            var history = unsafe bytes.assumingMemoryBound(to: Int16.self)
            // A rotation is three reversals.
            unsafe history[..<start].reverse()
            unsafe history[start...].reverse()
            unsafe history.reverse()
        }
        unsafe state.pointee.buf_ptr = 0
    }

    /// Forgets the history.
    package mutating func reset() { _ = unsafe plc_init(state) }
}
