/// A sound of 48 kHz in one channel, or in two interleaved ones, left first.
package struct Sound: Equatable, Sendable {
    /// The samples of all channels.
    package let samples: [Int16]
    /// The number of channels, 1 or 2.
    package let channels: Int
    /// The memory that is counted for the sound; whoever keeps the samples keeps it, too. `nil`: it is not counted.
    var memory: SoundMemory.Share?

    /// Makes a sound of its parts, with one channel unless given.
    package init(_ samples: [Int16], channels: Int = 1) {
        self.samples = samples
        self.channels = channels
    }

    /// The length in samples per channel.
    package var length: Int { samples.count / channels }

    /// Whether both sound the same.
    package static func == (one: Sound, other: Sound) -> Bool {
        one.channels == other.channels && one.samples == other.samples
    }

    /// The samples of one channel; `number` is 0 for left or the only one, 1 for right.
    package func channel(_ number: Int) -> [Int16] {
        stride(from: number, to: samples.count, by: channels).map { samples[$0] }
    }
}
