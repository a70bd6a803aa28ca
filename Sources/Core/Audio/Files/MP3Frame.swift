import Primitives

/// The header of a frame of MPEG-1, MPEG-2 or MPEG-2.5 audio, layer III (ISO/IEC 11172-3 §2.4.1.3, 13818-3 §2.4.1.3).
struct MP3Frame: Equatable {
    /// Samples per second, one of nine from 8,000 to 48,000.
    let rate: Int
    /// The number of channels, 1 or 2.
    let channels: Int
    /// Samples per channel, 576 or 1,152.
    let samples: Int
    /// The bytes of the frame with its header, 24…1,441.
    let size: Int
    /// The bytes of the header and the side information, behind which an encoder puts what it says of the file.
    let mainData: Int

    private static let headerSize = 4
    /// Samples per second of MPEG-1; MPEG-2 has half as many, and MPEG-2.5 a quarter.
    private static let rates = [44_100, 48_000, 32_000]
    /// Kilobits per second by the index in the header; 0 stands for free format.
    private static let firstBitrates = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
    private static let laterBitrates = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]

    /// Reads the header at an offset.
    ///
    /// - Returns: `nil` if none is there.
    /// - Throws: `mpegLayer` or `freeBitrate` for a header of audio that is not played.
    init?(in file: Span<UInt8>, at offset: Int) throws(SoundFileError) {
        guard offset + Self.headerSize <= file.count, file[offset] == 0xFF, file[offset + 1] & 0xE0 == 0xE0 else {
            return nil
        }
        let (kind, format, mode) = (file[offset + 1], file[offset + 2], file[offset + 3] >> 6)
        // 3 is MPEG-1, 2 is MPEG-2, 0 is MPEG-2.5; 3 is layer I, 2 is layer II, 1 is layer III.
        let (version, layer) = (kind >> 3 & 3, kind >> 1 & 3)
        let (bitrate, rate) = (Int(format >> 4), Int(format >> 2 & 3))
        guard version != 1, layer != 0, bitrate != 15, rate != 3 else { return nil }
        guard layer == 1 else { throw .mpegLayer(4 - Int(layer)) }
        guard bitrate != 0 else { throw .freeBitrate }
        let isFirst = version == 3
        self.rate = Self.rates[rate] >> (isFirst ? 0 : version == 2 ? 1 : 2)
        channels = mode == 3 ? 1 : 2
        samples = isFirst ? 1_152 : 576
        let bitsPerSecond = 1_000 * (isFirst ? Self.firstBitrates : Self.laterBitrates)[bitrate]
        size = samples / 8 * bitsPerSecond / self.rate + Int(format >> 1 & 1)
        let sideInformation = isFirst ? (channels == 1 ? 17 : 32) : (channels == 1 ? 9 : 17)
        mainData = Self.headerSize + sideInformation
    }

    /// Whether both can be frames of one stream.
    func continues(_ other: MP3Frame) -> Bool {
        rate == other.rate && channels == other.channels && samples == other.samples
    }
}

/// What an encoder says of its file in a frame in place of the first one: Xing or Info, with or without what LAME adds,
/// or VBRI.
struct MP3FileDescription: Equatable {
    /// The samples per channel that the encoder has put in front; `nil`: it does not say.
    private(set) var delay: Int?
    /// The samples per channel that the encoder has put behind.
    private(set) var padding = 0

    private static let (vbri, xing, info) = (Array("VBRI".utf8), Array("Xing".utf8), Array("Info".utf8))
    /// Where VBRI stands, counted from the start of the frame.
    private static let vbriOffset = 36
    /// How far behind the fields of Xing, where the name of the encoder stands, LAME puts delay and padding.
    private static let delayOffset = 21

    /// Reads the content of a frame, from its header on.
    ///
    /// - Returns: `nil` if it is a frame of audio.
    init?(in frame: Span<UInt8>, _ header: MP3Frame) {
        if frame.starts(with: Self.vbri, at: Self.vbriOffset) { return }
        let start = header.mainData
        guard frame.starts(with: Self.xing, at: start) || frame.starts(with: Self.info, at: start),
            start + 8 <= frame.count
        else {
            return nil
        }
        // The number of frames, that of bytes, a table of contents, and the quality, each of which may be missing.
        var encoder = start + 8
        for (bit, size) in [4, 4, 100, 4].enumerated() where frame[start + 7] >> UInt8(bit) & 1 == 1 { encoder += size }
        let place = encoder + Self.delayOffset
        guard place + 3 <= frame.count, frame[encoder] != 0 else { return }
        delay = Int(frame[place]) << 4 | Int(frame[place + 1]) >> 4
        padding = Int(frame[place + 1] & 0xF) << 8 | Int(frame[place + 2])
    }
}
