/// Plays a cadence endlessly, at 48 kHz in one channel.
package struct ToneGenerator: Sendable {
    /// The amplitude of each frequency, relative to full scale: about −16 dBm0, so that two together stay at −13 dBm0.
    private static let amplitude = 32_767 * 0.11
    /// A burst starts and ends with a ramp of 5 ms, in samples, to avoid clicks.
    private static let ramp = 240

    private let elements: [(oscillators: [Oscillator], count: Int)]
    private var oscillators: [Oscillator]
    private var element = 0
    private var position = 0

    /// Starts at the first element of the cadence.
    package init(_ cadence: ToneCadence) {
        elements = cadence.elements.map { element in
            (element.frequencies.map { Oscillator(frequency: $0) }, Int(element.duration.inSamples))
        }
        oscillators = elements[0].oscillators
    }

    /// Fills `samples` with the next samples.
    package mutating func next(into samples: inout MutableSpan<Int16>) {
        for index in samples.indices { samples[index] = next() }
    }

    private mutating func next() -> Int16 {
        let count = elements[element].count
        var sum = 0.0
        for index in oscillators.indices { sum += oscillators[index].next() }
        let edge = elements.count == 1 ? Self.ramp : min(position, count - 1 - position, Self.ramp)
        position += 1
        if position == count { advance() }
        return Int16(sample: sum * Self.amplitude * Double(edge) / Double(Self.ramp))
    }

    private mutating func advance() {
        position = 0
        // A tone without a pause continues in phase.
        guard elements.count > 1 else { return }
        element = (element + 1) % elements.count
        for index in oscillators.indices where index < elements[element].oscillators.count {
            oscillators[index] = elements[element].oscillators[index]
        }
        if oscillators.count != elements[element].oscillators.count { oscillators = elements[element].oscillators }
    }
}
