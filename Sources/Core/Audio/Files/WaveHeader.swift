/// The header of a RIFF/WAVE file with PCM of 16 bits: the chunk `fmt ` and the start of the chunk `data`, in that
/// order. The samples follow it.
package struct WaveHeader: Equatable, Sendable {
    /// The bytes of the header.
    package static let size = 44
    /// The most bytes of samples: the size of the whole file is a number of 32 bits.
    package static let maximumData = Int(UInt32.max) - size

    /// Samples per second and channel.
    package let rate: Int
    /// The number of channels, which are interleaved.
    package let channels: Int

    /// Makes a header of its parts; each parameter is the property of that name.
    package init(rate: Int, channels: Int) {
        self.rate = rate
        self.channels = channels
    }

    /// Bytes of one sample of all channels.
    package var frameSize: Int { 2 * channels }

    /// The header of a file with so many bytes of samples; more than ``maximumData`` are written as that.
    package func bytes(dataSize: Int) -> [UInt8] {
        let data = min(dataSize, Self.maximumData)
        var header = Array("RIFF".utf8)
        header.append(littleEndian: data + Self.size - 8, 4)
        header += Array("WAVEfmt ".utf8)
        for (value, count) in [
            (16, 4), (1, 2), (channels, 2), (rate, 4), (rate * frameSize, 4), (frameSize, 2), (16, 2),
        ] {
            header.append(littleEndian: value, count)
        }
        header += Array("data".utf8)
        header.append(littleEndian: data, 4)
        return header
    }
}

extension [UInt8] {
    /// Appends the low `count` bytes of a number, the lowest first.
    package mutating func append(littleEndian value: Int, _ count: Int) {
        for index in 0..<count { append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
    }
}
