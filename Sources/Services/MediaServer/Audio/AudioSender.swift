internal import Audio

/// Speaks to one leg: 20 ms of samples in, a payload out.
protocol AudioSender: AnyObject {
    /// Returns the payload's size; 0 if there is nothing to send.
    func encode(_ samples: Span<Int16>, into payload: inout MutableSpan<UInt8>) -> Int
}

final class EncodingSender<Encoder: AudioEncoder & ~Copyable>: AudioSender {
    private var encoder: Encoder

    init(_ encoder: consuming Encoder) { self.encoder = encoder }

    func encode(_ samples: Span<Int16>, into payload: inout MutableSpan<UInt8>) -> Int {
        do throws(AudioCodecError) {
            return try encoder.encode(samples, into: &payload)
        } catch {
            // A frame that cannot be coded is one that is not sent.
            return 0
        }
    }
}
