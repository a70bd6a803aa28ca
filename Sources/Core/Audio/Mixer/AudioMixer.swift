/// Mixes up to 32 participants at 48 kHz so that each hears all others and not itself.
///
/// A cycle: `setInput` for everybody who has something to say, `mix`, then `output` for everybody who listens. Nothing
/// allocates after the initialiser.
package struct AudioMixer: ~Copyable {
    package static let maximumParticipants = 32
    /// Samples of a cycle, 20 ms.
    package static let frame = 960
    /// Where the limiter begins, of 32,767: below it a sum stays exactly what it is.
    private static let threshold: Int32 = 29_000

    private var inputs = [Int16](repeating: 0, count: maximumParticipants * frame)
    private var speaks = [Bool](repeating: false, count: maximumParticipants)
    private var sum = [Int32](repeating: 0, count: frame)
    /// What the limiter multiplies with, per listener, of 65,536: it falls at once and recovers slowly.
    private var gains = [Int32](repeating: 65_536, count: maximumParticipants)
    private var speakers = SpeakerDetector(count: maximumParticipants)

    package init() {}

    /// What a participant says in this cycle; who says nothing is not mentioned.
    package mutating func setInput(_ samples: Span<Int16>, of participant: Int) {
        precondition(samples.count == Self.frame, "a cycle is 20 ms")
        let start = participant * Self.frame
        for index in samples.indices { inputs[start + index] = samples[index] }
        speaks[participant] = true
        speakers.heard(AudioLevel(of: samples), from: participant)
    }

    /// Adds up what was said; returns the participant who speaks, if that is another one than before.
    package mutating func mix() -> Int? {
        for index in sum.indices { sum[index] = 0 }
        for participant in speaks.indices where speaks[participant] {
            let start = participant * Self.frame
            for index in sum.indices { sum[index] += Int32(inputs[start + index]) }
        }
        return speakers.advance()
    }

    /// What a participant hears: the sum without what it said itself.
    package mutating func output(for participant: Int, into samples: inout [Int16]) {
        precondition(samples.count == Self.frame, "a cycle is 20 ms")
        let (start, own) = (participant * Self.frame, speaks[participant])
        var peak: Int32 = 0
        for index in samples.indices { peak = max(peak, abs(sum[index] - (own ? Int32(inputs[start + index]) : 0))) }
        let before = gains[participant]
        // Loud sums are brought to the threshold; afterwards the gain comes back by a dB in some hundred milliseconds.
        let wanted = peak > Self.threshold ? Int32(Int64(Self.threshold) * 65_536 / Int64(peak)) : 65_536
        let after = min(wanted, before + 1_600)
        gains[participant] = after
        let isLoud = before < 65_536 || after < 65_536
        for index in samples.indices {
            var value = sum[index] - (own ? Int32(inputs[start + index]) : 0)
            if isLoud {
                // The gain moves over the first quarter of the frame; what still sticks out is cut.
                let step = min(Int64(index) * 4, Int64(Self.frame))
                let gain = Int64(before) + (Int64(after) - Int64(before)) * step / Int64(Self.frame)
                value = Int32(Int64(value) * gain / 65_536)
            }
            samples[index] = Int16(clamping: value)
        }
    }

    /// The cycle is over: who says nothing in the next one is silent.
    package mutating func finishCycle() {
        for participant in speaks.indices { speaks[participant] = false }
    }

    /// A participant leaves; its place may be taken by another one.
    package mutating func remove(_ participant: Int) {
        speaks[participant] = false
        gains[participant] = 65_536
        speakers.remove(participant)
    }

    package var activeSpeaker: Int? { speakers.active }
    package func level(of participant: Int) -> AudioLevel { speakers.level(of: participant) }
}
