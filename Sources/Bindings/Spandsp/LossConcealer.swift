internal import CSpandsp

/// Hides the loss of samples of 8 kHz by repeating the last pitch period and fading out (ITU-T G.711 Appendix I in spirit).
///
/// Two faults of spandsp 0.0.6 are contained here. It blends the first quarter of a pitch period, up to 30 samples, into whatever
/// buffer it is given, however short that is: shorter ones are filled by way of a buffer of its own. And it turns its history round
/// by a `memcpy` onto itself: it is given the history the right way round.
@safe
package struct LossConcealer: ~Copyable {
    /// `PLC_PITCH_OVERLAP_MAX`: no call writes more than this or what was asked for.
    private static let overlap = 30

    private let state: UnsafeMutablePointer<plc_state_t>
    private var scratch = [Int16](repeating: 0, count: overlap)

    package init() {
        guard let state = unsafe plc_init(nil) else { preconditionFailure("memory for a concealer") }
        unsafe self.state = state
    }

    deinit { unsafe plc_free(state) }

    /// Looks at good samples, and smooths the first of them after a loss.
    package mutating func receive(_ samples: inout MutableSpan<Int16>) {
        let state = unsafe state
        unsafe samples.withUnsafeMutableBufferPointer { samples in
            _ = unsafe plc_rx(state, samples.baseAddress, Int32(samples.count))
        }
    }

    /// Fills all of `samples`.
    package mutating func conceal(into samples: inout MutableSpan<Int16>) {
        unsafe Self.straighten(state)
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

    /// Lets the ring of past samples begin at its beginning.
    private static func straighten(_ state: UnsafeMutablePointer<plc_state_t>) {
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

    package mutating func reset() { _ = unsafe plc_init(state) }
}
