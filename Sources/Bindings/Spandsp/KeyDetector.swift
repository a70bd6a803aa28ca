internal import CSpandsp

/// Hears the keys of a telephone in samples of 8 kHz (ITU-T Q.23, Q.24): each once, when its two tones have lasted for two blocks of
/// 13 ms.
@safe
package struct KeyDetector: ~Copyable {
    private let state: OpaquePointer

    package init() {
        guard let state = unsafe dtmf_rx_init(nil, nil, nil) else { preconditionFailure("memory for a key detector") }
        unsafe self.state = state
    }

    deinit { unsafe dtmf_rx_free(state) }

    /// Listens on.
    package mutating func hear(_ samples: Span<Int16>) {
        let state = unsafe state
        unsafe samples.withUnsafeBufferPointer { samples in
            _ = unsafe dtmf_rx(state, samples.baseAddress, Int32(samples.count))
        }
    }

    /// The next key that was heard, `0…9 A…D * #`; `nil` if there is no more.
    package mutating func next() -> Character? {
        var text: (CChar, CChar) = (0, 0)
        let count = unsafe withUnsafeMutableBytes(of: &text) { bytes in
            unsafe dtmf_rx_get(state, bytes.assumingMemoryBound(to: CChar.self).baseAddress, 1)
        }
        return count == 1 ? Character(Unicode.Scalar(UInt8(bitPattern: text.0))) : nil
    }

    /// A key sounds on at the end of what was heard last.
    package var isPressed: Bool {
        let status = unsafe dtmf_rx_status(state)
        // "x" is a mere suspicion.
        return status != 0 && status != 0x78
    }

    package mutating func reset() { _ = unsafe dtmf_rx_init(state, nil, nil) }
}
