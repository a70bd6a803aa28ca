internal import Audio
internal import Spandsp
internal import SpeexDSP

// Steps of decoders and encoders on buffers that they own. The parts are parameters, because a span into one part of a value
// keeps all of it from being changed.

/// Lets a concealer see the first `count` samples.
func hear(_ samples: inout [Int16], _ count: Int, with concealer: inout LossConcealer) {
    var span = samples.mutableSpan
    var heard = span._mutatingExtracting(0..<count)
    concealer.receive(&heard)
}

/// Fills the first `count` samples with what hides a loss.
func concealLoss(_ samples: inout [Int16], _ count: Int, with concealer: inout LossConcealer) {
    var span = samples.mutableSpan
    var missing = span._mutatingExtracting(0..<count)
    concealer.conceal(into: &missing)
}

/// Listens for keys in the first `count` samples, and silences them while one is known to be pressed.
func listen(_ samples: inout [Int16], _ count: Int, with detector: inout KeyDetector) {
    detector.hear(samples.span.extracting(0..<count))
    guard detector.isPressed else { return }
    for index in 0..<count { samples[index] = 0 }
}

/// Fills the first `count` samples with comfort noise.
func hiss(_ samples: inout [Int16], _ count: Int, _ sound: ComfortNoise, with generator: inout NoiseGenerator) {
    var span = samples.mutableSpan
    var silent = span._mutatingExtracting(0..<count)
    generator.fill(&silent, with: sound)
}

/// Resamples the first `count` samples to fill `output`; a sample that is missing at its end is the one before it.
func fill(_ output: inout MutableSpan<Int16>, from samples: [Int16], _ count: Int, with resampler: inout Resampler) {
    let made = resample(samples, count, with: &resampler, into: &output)
    for index in made..<output.count { output[index] = made > 0 ? output[made - 1] : 0 }
}

/// Resamples the first `count` samples; returns how many that makes.
func resample(_ samples: [Int16], _ count: Int, with resampler: inout Resampler, into output: inout MutableSpan<Int16>)
    -> Int
{
    resampler.process(samples.span.extracting(0..<count), into: &output).made
}

/// The other way: into a buffer; what is not filled is silence.
func resample(_ samples: Span<Int16>, with resampler: inout Resampler, into buffer: inout [Int16]) {
    var span = buffer.mutableSpan
    let made = resampler.process(samples, into: &span).made
    for index in made..<span.count { span[index] = 0 }
}
