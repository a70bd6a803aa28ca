package import Audio
internal import CallControl

/// Something that plays to a leg.
package protocol AudioPlayer: AnyObject {
    /// 1, or 2 whose samples come by turns, left and right.
    var channels: Int { get }
    /// Makes the next samples; `false` when there are no more, and silence from then on.
    func next(into samples: inout MutableSpan<Int16>) -> Bool
}

extension AudioPlayer {
    package var channels: Int { 1 }
}

package final class MusicPlayer: AudioPlayer {
    private var music = HoldMusic()

    package func next(into samples: inout MutableSpan<Int16>) -> Bool {
        music.next(into: &samples)
        return true
    }
}

package final class TonePlayer: AudioPlayer {
    private var generator: ToneGenerator

    package init(_ cadence: ToneCadence) { generator = ToneGenerator(cadence) }

    package func next(into samples: inout MutableSpan<Int16>) -> Bool {
        generator.next(into: &samples)
        return true
    }
}

/// Plays a sound that was read from a file.
package final class SamplePlayer: AudioPlayer {
    package let channels: Int
    private let samples: [Int16]
    private let repeats: Bool
    private var position: Int

    /// - Parameter start: in samples per channel.
    package init(_ sound: Sound, from start: Int, repeats: Bool) {
        channels = sound.channels
        samples = sound.samples
        self.repeats = repeats && !samples.isEmpty
        position = min(max(start, 0), sound.length) * channels
    }

    package func next(into frame: inout MutableSpan<Int16>) -> Bool {
        for index in frame.indices {
            if position == samples.count, repeats { position = 0 }
            frame[index] = position < samples.count ? samples[position] : 0
            position = min(position + 1, samples.count)
        }
        return repeats || position < samples.count
    }
}

/// Nothing: while keys are pressed, which sound for themselves.
package final class SilentPlayer: AudioPlayer {
    package func next(into samples: inout MutableSpan<Int16>) -> Bool {
        for index in samples.indices { samples[index] = 0 }
        return true
    }
}

extension ToneCadence.Kind {
    init(_ tone: CallTone) {
        self =
            switch tone {
            case .ringback: .ringback
            case .busy: .busy
            case .congestion: .congestion
            case .dial: .dial
            case .callWaiting: .callWaiting
            case .specialInformation: .specialInformation
            }
    }
}
