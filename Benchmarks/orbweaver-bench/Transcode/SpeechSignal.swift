import Foundation

/// Something that codecs take for speech: syllables of a gliding voice with three formants, and pauses. 48 kHz, one
/// channel.
enum SpeechSignal {
    private static let rate = 48_000.0
    /// Hertz of the formants of three vowels (Peterson and Barney, 1952).
    private static let vowels: [[Double]] = [[730, 1_090, 2_440], [270, 2_290, 3_010], [570, 840, 2_410]]

    static func samples(seconds: Int) -> [Int16] {
        var phase = 0.0
        return (0..<(seconds * Int(rate))).map { index in
            let time = Double(index) / rate
            // Four syllables a second; every fifth is a pause.
            let (syllable, within) = (Int(time * 4), (time * 4).truncatingRemainder(dividingBy: 1))
            let pitch = 120 + 20 * sin(2 * .pi * 0.7 * time)
            phase += pitch / rate
            guard syllable % 5 != 4 else { return 0 }
            let formants = vowels[syllable % vowels.count]
            let sound = (1...28).reduce(0) { sum, harmonic in
                let frequency = Double(harmonic) * pitch
                let gain = formants.reduce(0.02) { $0 + exp(-pow((frequency - $1) / 150, 2)) }
                return sum + gain / Double(harmonic).squareRoot() * sin(2 * .pi * Double(harmonic) * phase)
            }
            return Int16(clamping: Int(2_500 * sound * sin(.pi * within)))
        }
    }
}
