internal import CSpandsp

/// Hides the loss of samples of 8 kHz by repeating the last pitch period and fading out (ITU-T G.711 Appendix I in spirit).
@safe
package struct LossConcealer: ~Copyable {
    private let state: UnsafeMutablePointer<plc_state_t>

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
        let state = unsafe state
        unsafe samples.withUnsafeMutableBufferPointer { samples in
            _ = unsafe plc_fillin(state, samples.baseAddress, Int32(samples.count))
        }
    }

    package mutating func reset() { _ = unsafe plc_init(state) }
}
