internal import Audio
internal import Spandsp
internal import SpeexDSP

// Steps of decoders and encoders on their own buffers. The parts are parameters, because a span into one part of a
// value prevents changes of the whole value.

/// Gives the first `count` samples to the concealer, which may change them to join them to concealed audio.
func hear(_ samples: inout [Int16], _ count: Int, with concealer: inout LossConcealer) {
    var span = samples.mutableSpan
    var heard = span._mutatingExtracting(0..<count)
    concealer.receive(&heard)
}

/// Fills the first `count` samples by packet loss concealment.
func concealLoss(_ samples: inout [Int16], _ count: Int, with concealer: inout LossConcealer) {
    var span = samples.mutableSpan
    var missing = span._mutatingExtracting(0..<count)
    concealer.conceal(into: &missing)
}

/// Detects DTMF digits in the first `count` samples, and silences the samples while a detected digit sounds.
func listen(_ samples: inout [Int16], _ count: Int, with detector: inout DTMFDetector) {
    detector.hear(samples.span.extracting(0..<count))
    guard detector.isPressed else { return }
    for index in 0..<count { samples[index] = 0 }
}

/// Fills the first `count` samples with comfort noise.
func addComfortNoise(
    _ samples: inout [Int16], _ count: Int, _ sound: ComfortNoise, with generator: inout NoiseGenerator
) {
    var span = samples.mutableSpan
    var silent = span._mutatingExtracting(0..<count)
    generator.fill(&silent, with: sound)
}

/// Resamples the first `count` samples to fill `output`. Samples missing at its end repeat the last one.
func fill(_ output: inout MutableSpan<Int16>, from samples: [Int16], _ count: Int, with resampler: inout Resampler) {
    let made = resample(samples, count, with: &resampler, into: &output)
    for index in made..<output.count { output[index] = made > 0 ? output[made - 1] : 0 }
}

/// Resamples the first `count` samples. Returns the number of samples made.
func resample(_ samples: [Int16], _ count: Int, with resampler: inout Resampler, into output: inout MutableSpan<Int16>)
    -> Int
{
    resampler.process(samples.span.extracting(0..<count), into: &output).made
}

/// Resamples into a buffer, whose rest is filled with silence.
func resample(_ samples: Span<Int16>, with resampler: inout Resampler, into buffer: inout [Int16]) {
    var span = buffer.mutableSpan
    let made = resampler.process(samples, into: &span).made
    for index in made..<span.count { span[index] = 0 }
}

/// Copies samples of one channel, or the mean of two interleaved ones, to a buffer that they fill.
func takeMiddle(of samples: Span<Int16>, channels: Int, into buffer: inout [Int16]) {
    var span = buffer.mutableSpan
    if channels == 1 {
        for index in span.indices { span[index] = samples[index] }
    } else {
        for index in span.indices { span[index] = Int16((Int(samples[2 * index]) + Int(samples[2 * index + 1])) / 2) }
    }
}

/// Adds samples of one channel, or the mean of two interleaved ones, to those of a buffer. Sums beyond the range are
/// limited to it.
func addMiddle(of samples: Span<Int16>, channels: Int, to buffer: inout [Int16]) {
    var span = buffer.mutableSpan
    for index in span.indices {
        let sample = channels == 1 ? Int(samples[index]) : (Int(samples[2 * index]) + Int(samples[2 * index + 1])) / 2
        span[index] = Int16(clamping: Int(span[index]) + sample)
    }
}
