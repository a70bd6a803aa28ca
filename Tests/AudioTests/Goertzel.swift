/// The share of a signal's energy at one frequency, 0…1.
func share(of frequency: Double, in samples: [Int16], rate: Double = 48_000) -> Double {
    var (real, imaginary, energy) = (0.0, 0.0, 0.0)
    for (index, sample) in samples.enumerated() {
        let angle = 2 * Double.pi * frequency * Double(index) / rate
        real += Double(sample) * cosine(angle)
        imaginary += Double(sample) * sine(angle)
        energy += Double(sample) * Double(sample)
    }
    return energy == 0 ? 0 : 2 * (real * real + imaginary * imaginary) / (Double(samples.count) * energy)
}
