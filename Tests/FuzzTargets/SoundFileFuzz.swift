import Audio
import Primitives

/// Any bytes as an Ogg file, as they are and with checksums that fit: what is said to be there is there.
package func fuzzOggOpus(_ bytes: Span<UInt8>) {
    readOggOpus(bytes)
    var mended = [UInt8](copying: bytes)
    mendChecksums(of: &mended)
    readOggOpus(mended.span)
}

private func readOggOpus(_ bytes: Span<UInt8>) {
    guard let file = try? OggOpusFile(parsing: bytes) else { return }  // refusing is a fine answer
    var samples = 0
    for index in 0..<file.packetCount {
        guard let count = OpusPacket.sampleCount(of: file.packet(index)) else {
            preconditionFailure("only packets of Opus are kept")
        }
        _ = OpusPacket.carriesRedundancy(file.packet(index))
        samples += count
    }
    precondition(file.sampleCount + file.preSkip <= max(samples, file.preSkip), "no more is played than there is")
    precondition(file.sampleCount <= OggOpusFile.maximumSamples, "no more is played than is kept in memory")
}

/// A fuzzer would never guess them.
private func mendChecksums(of file: inout [UInt8]) {
    var offset = 0
    while offset + OggPage.headerSize <= file.count {
        guard file[offset..<(offset + 4)].elementsEqual("OggS".utf8) else { return }
        let table = (offset + OggPage.headerSize)..<(offset + OggPage.headerSize + Int(file[offset + 26]))
        guard table.upperBound <= file.count else { return }
        let end = file[table].reduce(table.upperBound) { $0 + Int($1) }
        guard end <= file.count else { return }
        let sum = OggPage.checksum(of: file.span.extracting(offset..<end))
        for (index, place) in OggPage.checksumRange.enumerated() {
            file[offset + place] = UInt8(truncatingIfNeeded: sum >> (8 * UInt32(index)))
        }
        offset = end
    }
}

/// Any bytes as a RIFF/WAVE file.
package func fuzzWave(_ bytes: Span<UInt8>) {
    guard let file = try? WaveFile(parsing: bytes) else { return }  // refusing is a fine answer
    precondition((8_000...48_000).contains(file.rate), "only rates that can be resampled")
    precondition(file.samples.count <= bytes.count, "a sample takes a byte at least")
}

/// Any bytes as an MP3 file.
package func fuzzMP3(_ bytes: Span<UInt8>) {
    let longest = 10 * 60
    guard let file = try? MP3File(parsing: [UInt8](copying: bytes), upTo: longest) else { return }  // as above
    precondition((8_000...48_000).contains(file.rate), "only rates that can be resampled")
    precondition((1...(longest * file.rate)).contains(file.sampleCount), "no more is played than is kept in memory")
    precondition(file.preSkip + file.sampleCount <= 1_152 * file.frameCount, "no more is played than there is")
    var taken = 0
    for index in 0..<file.frameCount { taken += file.frame(index).count }
    precondition(taken <= bytes.count, "no byte is in two frames")
}
