/// Samples of 48 kHz, in one channel or, by turns left and right, in two.
package struct Sound: Equatable, Sendable {
    package let samples: [Int16]
    /// 1 or 2.
    package let channels: Int

    package init(_ samples: [Int16], channels: Int = 1) {
        self.samples = samples
        self.channels = channels
    }

    /// Samples per channel.
    package var length: Int { samples.count / channels }

    /// One of the channels.
    package func channel(_ number: Int) -> [Int16] {
        stride(from: number, to: samples.count, by: channels).map { samples[$0] }
    }
}
