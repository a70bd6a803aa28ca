internal import Audio
internal import MediaPlane
package import Primitives

/// The source and the sink of a headless leg: it produces what other legs hear of the leg, and takes what the leg
/// hears.
///
/// A cycle of the audio engine is one `speak`, then one `hear`. Samples are 20 ms of 48 kHz; two channels are
/// interleaved, left first. What the leg hears of one sender of Opus comes in packets, too, between the cycles.
package protocol HeadlessVoice: AnyObject {
    /// The channels of what it says: 1 or 2, constant for its life.
    var channels: Int { get }
    /// Fills `samples` with what it says next. Returns `false`, and leaves `samples` undefined, if it says nothing.
    func speak(into samples: inout MutableSpan<Int16>) -> Bool
    /// Takes what the leg hears, in 1 or 2 channels; zeros if it hears nothing.
    func hear(_ samples: Span<Int16>, channels: Int)
    /// The Opus packets that start in this cycle and that `speak` has filled the samples from, none while a longer one
    /// is heard; `nil`: it has made the samples in another way.
    var saidPackets: [[UInt8]]? { get }
    /// Whether the samples are used. If not, one sender of Opus is not decoded, and `hear` is given zeros.
    var needsSamples: Bool { get }
    /// Whether all that the leg hears in the next `hear` comes in packets of one sender of Opus as well.
    func expectPackets(_ isExpected: Bool)
    /// Takes a packet of the sender that the leg hears, as it came: late, twice or damaged.
    ///
    /// - Parameter isRestart: its timestamp has nothing to do with those before.
    func receive(_ packet: Span<UInt8>, timestamp: RTPTimestamp, isRestart: Bool)
    /// So many cycles before the next one were left out, because the worker was late.
    func skip(_ cycles: Int)
}

extension HeadlessVoice {
    /// It speaks in samples.
    package var saidPackets: [[UInt8]]? { nil }
    /// The samples are used.
    package var needsSamples: Bool { true }
    /// Does nothing.
    package func expectPackets(_ isExpected: Bool) {}
    /// Does nothing.
    package func receive(_ packet: Span<UInt8>, timestamp: RTPTimestamp, isRestart: Bool) {}
    /// Does nothing.
    package func skip(_ cycles: Int) {}
}

/// Says what it has heard, in one channel, some time later.
package final class EchoVoice: HeadlessVoice {
    /// One channel.
    package var channels: Int { 1 }
    /// The samples of the delay; the oldest one is at `position`.
    private var samples: [Int16]
    private var position = 0
    /// Whether the whole delay has been heard once.
    private var isFull = false

    /// Makes an echo.
    ///
    /// - Parameter delay: The time from hearing to saying, at least 20 ms; it is rounded down to a multiple of 20 ms.
    package init(delay: Duration) {
        let frames = max(1, Int(delay.inSamples) / AudioMixer.frame)
        samples = [Int16](repeating: 0, count: frames * AudioMixer.frame)
    }

    /// Says what was heard one delay ago; `false` before anything can have been.
    package func speak(into frame: inout MutableSpan<Int16>) -> Bool {
        guard isFull else { return false }
        for index in frame.indices { frame[index] = samples[position + index] }
        return true
    }

    /// Keeps what the leg hears, in place of what was said in this cycle.
    package func hear(_ frame: Span<Int16>, channels: Int) {
        for index in 0..<AudioMixer.frame {
            samples[position + index] =
                channels == 1 ? frame[index] : Int16((Int(frame[2 * index]) + Int(frame[2 * index + 1])) / 2)
        }
        position += AudioMixer.frame
        guard position == samples.count else { return }
        position = 0
        isFull = true
    }
}

/// Says what a player plays, and then nothing. What the leg hears is not used.
package final class PlayingVoice: HeadlessVoice {
    /// The channels of the player.
    package var channels: Int { player?.channels ?? formerChannels }
    private var player: (any AudioPlayer)?
    private let formerChannels: Int

    /// Makes a voice.
    ///
    /// - Parameter player: The source of the audio; `nil` for silence.
    package init(_ player: (any AudioPlayer)?) {
        self.player = player
        formerChannels = player?.channels ?? 1
    }

    /// Says the next samples of the player; `false` after its end.
    package func speak(into samples: inout MutableSpan<Int16>) -> Bool {
        guard let player else { return false }
        if !player.next(into: &samples) { self.player = nil }
        return true
    }

    /// Does nothing.
    package func hear(_ samples: Span<Int16>, channels: Int) {}

    /// What it hears is not used.
    package var needsSamples: Bool { false }
}

/// A headless leg in the audio engine: the voice, and what the bridge says about the leg.
final class HeadlessPort {
    let voice: any HeadlessVoice
    let feed: LineFeed
    let source: MediaSource
    /// What the voice has said in this cycle; undefined unless `isSpeaking`.
    private(set) var frame: [Int16]
    private(set) var isSpeaking = false

    /// `nil` if nobody hears the leg, and it hears nothing.
    init?(_ voice: any HeadlessVoice, for state: AudioState) {
        guard state.isDecoded || state.feed.isMadeHere else { return nil }
        self.voice = voice
        feed = state.feed
        source = state.source
        frame = [Int16](repeating: 0, count: voice.channels * AudioMixer.frame)
    }

    var isMixed: Bool { source == .mix }

    /// The one leg that this one hears; `nil`: it hears none, or not one alone.
    var sender: LegIndex? { if case .transcoded(let sender, _) = feed { sender } else { nil } }

    /// Lets the voice say the next 20 ms.
    func advance() {
        var span = frame.mutableSpan
        isSpeaking = voice.speak(into: &span)
    }
}
