internal import CSpandsp

/// Detects DTMF digits in samples of 8 kHz (ITU-T Q.23, Q.24). A digit is reported once, when its two tones have lasted
/// for two blocks of 13 ms.
@safe
package struct DTMFDetector: ~Copyable {
    private let state: OpaquePointer

    /// Makes a detector; it traps without memory.
    package init() {
        guard let state = unsafe dtmf_rx_init(nil, nil, nil) else { preconditionFailure("memory for a DTMF detector") }
        unsafe self.state = state
    }

    deinit { unsafe dtmf_rx_free(state) }

    /// Examines the next samples.
    package mutating func hear(_ samples: Span<Int16>) {
        let state = unsafe state
        unsafe samples.withUnsafeBufferPointer { samples in
            _ = unsafe dtmf_rx(state, samples.baseAddress, Int32(samples.count))
        }
    }

    /// The next detected digit, `0…9 A…D * #`; `nil` if there is no more.
    package mutating func next() -> Character? {
        var text: (CChar, CChar) = (0, 0)
        let count = unsafe withUnsafeMutableBytes(of: &text) { bytes in
            unsafe dtmf_rx_get(state, bytes.assumingMemoryBound(to: CChar.self).baseAddress, 1)
        }
        return count == 1 ? Character(Unicode.Scalar(UInt8(bitPattern: text.0))) : nil
    }

    /// Whether a detected digit still sounds at the end of the samples examined last.
    package var isPressed: Bool {
        let status = unsafe dtmf_rx_status(state)
        // "x" is a tone that has not been confirmed yet.
        return status != 0 && status != 0x78
    }

    /// Forgets the audio, and digits that have not been taken.
    package mutating func reset() { _ = unsafe dtmf_rx_init(state, nil, nil) }
}
