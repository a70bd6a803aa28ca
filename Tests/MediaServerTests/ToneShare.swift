import Audio

/// The share of a signal's energy at one frequency, 0…1; the rate is a multiple of four times the frequency.
func share(of frequency: Double, in samples: [Int16], rate: Double = 48_000) -> Double {
    var (cosine, sine) = (Oscillator(frequency: frequency, rate: rate), Oscillator(frequency: frequency, rate: rate))
    // A quarter of a period ahead.
    for _ in 0..<Int(rate / frequency / 4) { _ = cosine.next() }
    var (real, imaginary, energy) = (0.0, 0.0, 0.0)
    for sample in samples {
        real += Double(sample) * cosine.next()
        imaginary += Double(sample) * sine.next()
        energy += Double(sample) * Double(sample)
    }
    return energy == 0 ? 0 : 2 * (real * real + imaginary * imaginary) / (Double(samples.count) * energy)
}
