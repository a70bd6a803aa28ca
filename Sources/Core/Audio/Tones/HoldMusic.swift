/// Endless music on hold without a file: a quiet tune of four chords at 48 kHz.
package struct HoldMusic: Sendable {
    /// The length of a note in samples: a third of a second.
    private static let noteLength = 16_000
    private static let amplitude = 32_767 * 0.12
    /// Frequencies in hertz: C, A minor, F and G, each up and down again.
    private static let notes: [Double] = [
        261.63, 329.63, 392.00, 523.25, 392.00, 329.63,
        220.00, 261.63, 329.63, 440.00, 329.63, 261.63,
        174.61, 220.00, 261.63, 349.23, 261.63, 220.00,
        196.00, 246.94, 293.66, 392.00, 293.66, 246.94,
    ]

    private var note = 0
    private var position = 0
    private var voice: (fundamental: Oscillator, octave: Oscillator)
    /// The previous note, which fades out under this one.
    private var echo: (fundamental: Oscillator, octave: Oscillator)

    /// Starts at the first note.
    package init() {
        voice = Self.voice(0)
        echo = Self.voice(Self.notes.count - 1)
    }

    private static func voice(_ note: Int) -> (fundamental: Oscillator, octave: Oscillator) {
        (Oscillator(frequency: notes[note]), Oscillator(frequency: 2 * notes[note]))
    }

    /// Fills `samples` with the next samples, in one channel.
    package mutating func next(into samples: inout MutableSpan<Int16>) {
        for index in samples.indices { samples[index] = next() }
    }

    private mutating func next() -> Int16 {
        let progress = Double(position) / Double(Self.noteLength)
        let attack = min(1, progress * 30)
        // Like a plucked string: loud at once, then quieter, and not yet silent when the next note starts.
        let decay = (1 - progress) * (1 - progress)
        let sound = (voice.fundamental.next() + 0.3 * voice.octave.next()) * attack * (0.3 + 0.7 * decay)
        let trail = (echo.fundamental.next() + 0.3 * echo.octave.next()) * 0.3 * decay * (1 - attack * 0.2)
        position += 1
        if position == Self.noteLength {
            position = 0
            note = (note + 1) % Self.notes.count
            echo = voice
            voice = Self.voice(note)
        }
        return Int16(sample: (sound + trail) * Self.amplitude)
    }
}
