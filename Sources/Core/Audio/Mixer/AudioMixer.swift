/// Mixes up to 32 participants at 48 kHz, in one channel or two. Each participant hears all others and not itself.
///
/// A cycle: `setInput` for each participant that sends audio, `mix`, `output` for each listener, `finishCycle`. Nothing
/// allocates after the initialiser, except for the memory of two channels, once, when the first stereo participant is
/// heard.
///
/// A mono participant is heard in the middle: the same on both sides. A mono listener hears the mean of both sides.
package struct AudioMixer: ~Copyable {
    /// Participants are numbered 0…31.
    package static let maximumParticipants = 32
    /// Samples per channel of a cycle, 20 ms.
    package static let frame = 960
    /// The level at which the limiter starts, of 32,767; sums below it are not changed.
    private static let threshold: Int32 = 29_000

    /// The audio of the participants in one channel; for stereo, the mean of both channels.
    private var inputs = [Int16](repeating: 0, count: maximumParticipants * frame)
    /// The interleaved audio of stereo participants.
    private var pairs: [Int16] = []
    /// The number of channels of each participant when it was last heard; 0 if it never was.
    private var channels = [Int](repeating: 0, count: maximumParticipants)
    private var speaks = [Bool](repeating: false, count: maximumParticipants)
    private var sum = [Int32](repeating: 0, count: frame)
    /// The sum in two interleaved channels, in cycles with a stereo participant.
    private var pairSum: [Int32] = []
    private var isPaired = false
    /// What a listener hears before the limiter.
    private var heard = [Int32](repeating: 0, count: frame)
    /// The gain of the limiter per listener, of 65,536: it falls at once and recovers slowly.
    private var gains = [Int32](repeating: 65_536, count: maximumParticipants)
    private var speakers = SpeakerDetector(count: maximumParticipants)

    /// Makes a mixer without participants.
    package init() {}

    /// Sets the audio of a participant in this cycle. A participant without audio is left out.
    ///
    /// The level of a participant is that of the mean power of its channels: a voice on one side counts 3 dB less than
    /// the same voice on both sides.
    ///
    /// - Parameters:
    ///   - samples: `frame` samples per channel; two channels are interleaved, left first.
    ///   - count: 1 or 2.
    ///   - participant: Its number, 0…31.
    package mutating func setInput(_ samples: Span<Int16>, channels count: Int = 1, of participant: Int) {
        precondition(samples.count == Self.frame * count, "a cycle is 20 ms")
        let start = participant * Self.frame
        if count == 1 {
            Self.copy(samples, to: &inputs, at: start)
        } else {
            if pairs.isEmpty { makeRoomForPairs() }
            Self.copy(samples, to: &pairs, at: 2 * start)
            Self.fold(samples, to: &inputs, at: start)
            isPaired = true
        }
        channels[participant] = count
        speaks[participant] = true
        speakers.heard(AudioLevel(of: samples), from: participant)
    }

    /// Allocates memory that is needed only with a stereo participant.
    private mutating func makeRoomForPairs() {
        pairs = [Int16](repeating: 0, count: 2 * inputs.count)
        pairSum = [Int32](repeating: 0, count: 2 * Self.frame)
        heard = pairSum
    }

    /// Adds up the audio of this cycle. Returns the active speaker if it has changed; `nil` if it has not.
    package mutating func mix() -> Int? {
        for index in sum.indices { sum[index] = 0 }
        for participant in speaks.indices where speaks[participant] && channels[participant] == 1 {
            Self.add(inputs, from: participant * Self.frame, to: &sum)
        }
        if isPaired {
            Self.double(sum, into: &pairSum)
            for participant in speaks.indices where speaks[participant] && channels[participant] == 2 {
                Self.add(inputs, from: participant * Self.frame, to: &sum)
                Self.add(pairs, from: 2 * participant * Self.frame, to: &pairSum)
            }
        }
        return speakers.advance()
    }

    /// The number of channels of what a participant hears: 2 if another participant is in stereo. Pauses of that one do
    /// not matter, so that the number does not change with every word.
    package func channels(for participant: Int) -> Int {
        for other in channels.indices where other != participant && channels[other] == 2 { return 2 }
        return 1
    }

    /// Makes what a participant hears: the sum without its own audio, limited.
    ///
    /// - Parameters:
    ///   - participant: The listener, 0…31.
    ///   - samples: Receives a frame of one channel, or of two interleaved ones; its size says which.
    package mutating func output(for participant: Int, into samples: inout [Int16]) {
        let count = samples.count / Self.frame
        precondition(samples.count == Self.frame * count && 1...2 ~= count, "a cycle is 20 ms")
        let peak = count == 1 ? leaveOut(participant) : leaveOutOfPairs(participant)
        let before = gains[participant]
        // Loud sums are reduced to the threshold, both channels by the same gain. Afterwards the gain recovers, by 1 dB
        // in about 100 ms.
        let wanted = peak > Self.threshold ? Int32(Int64(Self.threshold) * 65_536 / Int64(peak)) : 65_536
        let after = min(wanted, before + 1_600)
        gains[participant] = after
        guard before < 65_536 || after < 65_536 else {
            for index in samples.indices { samples[index] = Int16(clamping: heard[index]) }
            return
        }
        for index in samples.indices {
            // The gain changes over the first quarter of the frame; samples that still exceed the range are clipped.
            let step = min(Int64(index / count) * 4, Int64(Self.frame))
            let gain = Int64(before) + (Int64(after) - Int64(before)) * step / Int64(Self.frame)
            samples[index] = Int16(clamping: Int32(Int64(heard[index]) * gain / 65_536))
        }
    }

    /// Puts into `heard` what a participant hears in one channel. Returns its peak.
    private mutating func leaveOut(_ participant: Int) -> Int32 {
        let (start, own) = (participant * Self.frame, speaks[participant])
        var peak: Int32 = 0
        for index in 0..<Self.frame {
            let value = sum[index] - (own ? Int32(inputs[start + index]) : 0)
            heard[index] = value
            peak = max(peak, abs(value))
        }
        return peak
    }

    /// Puts into `heard` what a participant hears in two channels. Returns its peak.
    private mutating func leaveOutOfPairs(_ participant: Int) -> Int32 {
        guard isPaired else { return leaveOutOfMiddle(participant) }
        let start = participant * Self.frame
        switch speaks[participant] ? channels[participant] : 0 {
        case 0:
            for index in 0..<(2 * Self.frame) { heard[index] = pairSum[index] }
        case 1:
            for index in 0..<Self.frame {
                let said = Int32(inputs[start + index])
                heard[2 * index] = pairSum[2 * index] - said
                heard[2 * index + 1] = pairSum[2 * index + 1] - said
            }
        default:
            for index in 0..<(2 * Self.frame) { heard[index] = pairSum[index] - Int32(pairs[2 * start + index]) }
        }
        var peak: Int32 = 0
        for index in 0..<(2 * Self.frame) { peak = max(peak, abs(heard[index])) }
        return peak
    }

    /// The same, in a cycle in which no stereo participant has audio.
    private mutating func leaveOutOfMiddle(_ participant: Int) -> Int32 {
        if heard.count == Self.frame { heard = [Int32](repeating: 0, count: 2 * Self.frame) }
        let peak = leaveOut(participant)
        for index in (0..<(2 * Self.frame)).reversed() { heard[index] = heard[index / 2] }
        return peak
    }

    /// Ends the cycle: a participant is silent in the next cycle unless its input is set again.
    package mutating func finishCycle() {
        for participant in speaks.indices { speaks[participant] = false }
        isPaired = false
    }

    /// Forgets a participant; its number may be used for another one.
    package mutating func remove(_ participant: Int) {
        speaks[participant] = false
        channels[participant] = 0
        gains[participant] = 65_536
        speakers.remove(participant)
    }

    /// The participant that speaks, or spoke last; `nil` before any has spoken, and after that one was removed.
    package var activeSpeaker: Int? { speakers.active }
    /// The smoothed level of a participant, as the detection of the active speaker uses it.
    package func level(of participant: Int) -> AudioLevel { speakers.level(of: participant) }

    // MARK: Samples

    // The parts are parameters and are used as spans, so that exclusive access is checked once and not for each sample.

    private static func copy(_ samples: Span<Int16>, to buffer: inout [Int16], at start: Int) {
        var copies = buffer.mutableSpan
        for index in samples.indices { copies[start + index] = samples[index] }
    }

    /// The mean of left and right.
    private static func fold(_ samples: Span<Int16>, to buffer: inout [Int16], at start: Int) {
        var means = buffer.mutableSpan
        for index in 0..<frame {
            means[start + index] = Int16((Int32(samples[2 * index]) + Int32(samples[2 * index + 1])) / 2)
        }
    }

    private static func add(_ samples: [Int16], from start: Int, to sum: inout [Int32]) {
        let part = samples.span.extracting(start..<(start + sum.count))
        var sums = sum.mutableSpan
        for index in sums.indices { sums[index] += Int32(part[index]) }
    }

    /// Copies one channel to both sides.
    private static func double(_ middle: [Int32], into sides: inout [Int32]) {
        let samples = middle.span
        var doubled = sides.mutableSpan
        for index in samples.indices {
            doubled[2 * index] = samples[index]
            doubled[2 * index + 1] = samples[index]
        }
    }
}
