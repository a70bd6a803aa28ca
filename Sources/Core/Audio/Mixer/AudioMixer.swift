/// Mixes up to 32 participants at 48 kHz, in one channel or two, so that each hears all others and not itself.
///
/// A cycle: `setInput` for everybody who has something to say, `mix`, then `output` for everybody who listens. Nothing
/// allocates after the initialiser, but for what two channels need, once, when the first participant with two is heard.
///
/// Whoever has one channel is heard in the middle: the same on both sides. Whoever listens in one hears the mean of the two.
package struct AudioMixer: ~Copyable {
    package static let maximumParticipants = 32
    /// Samples per channel of a cycle, 20 ms.
    package static let frame = 960
    /// Where the limiter begins, of 32,767: below it a sum stays exactly what it is.
    private static let threshold: Int32 = 29_000

    /// What participants say in one channel; of two the mean.
    private var inputs = [Int16](repeating: 0, count: maximumParticipants * frame)
    /// What those with two channels say, left and right by turns.
    private var pairs: [Int16] = []
    /// How many channels a participant had when it was last heard; 0 if it never was.
    private var channels = [Int](repeating: 0, count: maximumParticipants)
    private var speaks = [Bool](repeating: false, count: maximumParticipants)
    private var sum = [Int32](repeating: 0, count: frame)
    /// The same, left and right by turns, in cycles in which anybody says anything in two channels.
    private var pairSum: [Int32] = []
    private var isPaired = false
    /// What a listener hears before it is limited.
    private var heard = [Int32](repeating: 0, count: frame)
    /// What the limiter multiplies with, per listener, of 65,536: it falls at once and recovers slowly.
    private var gains = [Int32](repeating: 65_536, count: maximumParticipants)
    private var speakers = SpeakerDetector(count: maximumParticipants)

    package init() {}

    /// What a participant says in this cycle; who says nothing is not mentioned.
    ///
    /// Its level is that of the mean power of its channels: a voice on one side counts 3 dB less than the same voice on both.
    ///
    /// - Parameter channels: 1, or 2 whose samples come by turns, left and right.
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

    /// Memory that a mix without stereo never has.
    private mutating func makeRoomForPairs() {
        pairs = [Int16](repeating: 0, count: 2 * inputs.count)
        pairSum = [Int32](repeating: 0, count: 2 * Self.frame)
        heard = pairSum
    }

    /// Adds up what was said; returns the participant who speaks, if that is another one than before.
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

    /// How many channels there are for a participant to hear: 2 if anybody else has two, whether it speaks or not, so that it does not
    /// change with every word.
    package func channels(for participant: Int) -> Int {
        for other in channels.indices where other != participant && channels[other] == 2 { return 2 }
        return 1
    }

    /// What a participant hears: the sum without what it said itself.
    ///
    /// - Parameter samples: a frame of one channel, or of two by turns.
    package mutating func output(for participant: Int, into samples: inout [Int16]) {
        let count = samples.count / Self.frame
        precondition(samples.count == Self.frame * count && 1...2 ~= count, "a cycle is 20 ms")
        let peak = count == 1 ? leaveOut(participant) : leaveOutOfPairs(participant)
        let before = gains[participant]
        // Loud sums are brought to the threshold, both channels by as much; afterwards the gain comes back by a dB in some hundred
        // milliseconds.
        let wanted = peak > Self.threshold ? Int32(Int64(Self.threshold) * 65_536 / Int64(peak)) : 65_536
        let after = min(wanted, before + 1_600)
        gains[participant] = after
        guard before < 65_536 || after < 65_536 else {
            for index in samples.indices { samples[index] = Int16(clamping: heard[index]) }
            return
        }
        for index in samples.indices {
            // The gain moves over the first quarter of the frame; what still sticks out is cut.
            let step = min(Int64(index / count) * 4, Int64(Self.frame))
            let gain = Int64(before) + (Int64(after) - Int64(before)) * step / Int64(Self.frame)
            samples[index] = Int16(clamping: Int32(Int64(heard[index]) * gain / 65_536))
        }
    }

    /// Puts into `heard` what a participant hears in one channel; returns the peak of it.
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

    /// The same in two channels.
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

    /// Nobody who has two channels says anything in this cycle.
    private mutating func leaveOutOfMiddle(_ participant: Int) -> Int32 {
        if heard.count == Self.frame { heard = [Int32](repeating: 0, count: 2 * Self.frame) }
        let peak = leaveOut(participant)
        for index in (0..<(2 * Self.frame)).reversed() { heard[index] = heard[index / 2] }
        return peak
    }

    /// The cycle is over: who says nothing in the next one is silent.
    package mutating func finishCycle() {
        for participant in speaks.indices { speaks[participant] = false }
        isPaired = false
    }

    /// A participant leaves; its place may be taken by another one.
    package mutating func remove(_ participant: Int) {
        speaks[participant] = false
        channels[participant] = 0
        gains[participant] = 65_536
        speakers.remove(participant)
    }

    package var activeSpeaker: Int? { speakers.active }
    package func level(of participant: Int) -> AudioLevel { speakers.level(of: participant) }

    // MARK: Samples

    // The parts are parameters, and are looked at as spans: that they are nobody else's is made sure of once and not for each sample.

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

    /// The same on both sides.
    private static func double(_ middle: [Int32], into sides: inout [Int32]) {
        let samples = middle.span
        var doubled = sides.mutableSpan
        for index in samples.indices {
            doubled[2 * index] = samples[index]
            doubled[2 * index + 1] = samples[index]
        }
    }
}
