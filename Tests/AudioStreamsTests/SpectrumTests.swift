import Foundation
import TestSupport
import Testing

@testable import AudioStreams

struct SpectrumTests {
    /// The sum over all samples, as the transform is defined.
    private static func power(_ samples: [Double], of bin: Int) -> Double {
        var (real, imaginary) = (0.0, 0.0)
        for (index, sample) in samples.enumerated() {
            let turn = Double(index * bin % Spectrum.size) / Double(Spectrum.size)
            let hann = 0.5 - 0.5 * cos(2 * .pi * Double(index) / Double(Spectrum.size))
            real += sample * hann * cos(2 * .pi * turn)
            imaginary -= sample * hann * sin(2 * .pi * turn)
        }
        return real * real + imaginary * imaginary
    }

    @Test(arguments: [0, 1, 48, 127])
    func `the power of each bin is that of the transform, wherever the ring starts`(_ start: Int) {
        var random = SeededRandomSource(seed: 5)
        let samples = (0..<Spectrum.size).map { _ in Double(random.next() % 20_000) - 10_000 }
        let ring = (0..<Spectrum.size).map { samples[($0 - start + Spectrum.size) % Spectrum.size] }
        var spectrum = Spectrum()
        var power = [Double](repeating: 0, count: NoiseSpectrum.bins.count)
        spectrum.measure(ring, from: start, bins: NoiseSpectrum.bins, into: &power)
        for (place, bin) in NoiseSpectrum.bins.enumerated() {
            let expected = Self.power(samples, of: bin)
            #expect(abs(power[place] - expected) < 1e-6 * (expected + 1e6), "bin \(bin)")
        }
    }
}
