package import Audio
internal import CallControl

/// A source of audio that plays to a leg.
package protocol AudioPlayer: AnyObject {
    /// 1 or 2. Two channels are interleaved, left first.
    var channels: Int { get }
    /// Fills `samples` with the next samples. Returns `false` at the end of the audio, and makes silence from then on.
    func next(into samples: inout MutableSpan<Int16>) -> Bool
}

extension AudioPlayer {
    /// One channel, the default for mono players.
    package var channels: Int { 1 }
}

/// Plays endless music on hold without a file.
package final class MusicPlayer: AudioPlayer {
    private var music = HoldMusic()

    /// Continues the music; returns `true` always.
    package func next(into samples: inout MutableSpan<Int16>) -> Bool {
        music.next(into: &samples)
        return true
    }
}

/// Plays the tone of a telephone network endlessly.
package final class TonePlayer: AudioPlayer {
    private var generator: ToneGenerator

    /// Starts at the first element of the cadence.
    package init(_ cadence: ToneCadence) { generator = ToneGenerator(cadence) }

    /// Continues the tone; returns `true` always.
    package func next(into samples: inout MutableSpan<Int16>) -> Bool {
        generator.next(into: &samples)
        return true
    }
}

/// Plays a sound that was read from a file, once or repeatedly.
package final class SamplePlayer: AudioPlayer {
    /// The channels of the sound, 1 or 2.
    package let channels: Int
    private let samples: [Int16]
    /// The memory of the samples, which is counted while they are played.
    private let memory: SoundMemory.Share?
    private let repeats: Bool
    private var position: Int

    /// Makes a player.
    ///
    /// - Parameters:
    ///   - start: The first sample to be played, in samples per channel of 48 kHz; limited to the length of the sound.
    ///   - repeats: Whether the sound starts again, from its first sample, after its end.
    package init(_ sound: Sound, from start: Int, repeats: Bool) {
        channels = sound.channels
        samples = sound.samples
        memory = sound.memory
        self.repeats = repeats && !samples.isEmpty
        position = min(max(start, 0), sound.length) * channels
    }

    /// Continues the sound; returns `false` when its last sample has been played and it does not repeat.
    package func next(into frame: inout MutableSpan<Int16>) -> Bool {
        for index in frame.indices {
            if position == samples.count, repeats { position = 0 }
            frame[index] = position < samples.count ? samples[position] : 0
            position = min(position + 1, samples.count)
        }
        return repeats || position < samples.count
    }
}

/// Plays silence, while DTMF digits are sent to the leg in place of audio.
package final class SilentPlayer: AudioPlayer {
    /// Fills `samples` with silence; returns `true` always.
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
