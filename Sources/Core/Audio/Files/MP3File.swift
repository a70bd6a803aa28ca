package import Primitives

/// The frames of an MP3 file, and how much of their audio is played (ISO/IEC 11172-3, 13818-3).
///
///     ID3v2, other bytes │ Xing or Info │ frame │ frame │ … │ APEv2, ID3v1
///
///     decoded   |··pre-skip··|――――――― played ―――――――|··trimmed··|
package struct MP3File: Equatable, Sendable {
    /// Samples per second, one of nine from 8,000 to 48,000.
    package let rate: Int
    /// The number of channels, 1 or 2.
    package let channels: Int
    /// Samples per channel at the start that are decoded and not played: what encoder and decoder put in front.
    package let preSkip: Int
    /// Samples per channel that are played after `preSkip`, more than 0.
    package let sampleCount: Int

    private let bytes: [UInt8]
    private let frames: [Range<Int>]

    /// The samples that a decoder is late by, and which an encoder does not count.
    private static let decoderDelay = 529

    /// The number of frames of audio.
    package var frameCount: Int { frames.count }

    /// A whole frame of audio with its header, for the decoder. `index` is below `frameCount`.
    @_lifetime(borrow self)
    package func frame(_ index: Int) -> Span<UInt8> { bytes.span.extracting(frames[index]) }

    /// Whether a file starts as an MP3 file does, with an ID3v2 tag or with the header of a frame of MPEG audio; or has
    /// two frames in a row, or one and a tag or nothing more, in the first 64 KiB behind tags and zeros. A file that
    /// starts like one of another format is one of that, and is not to be asked about here.
    package static func isMP3(_ file: Span<UInt8>) -> Bool {
        if MP3Tag.isAtStart(of: file) { return true }
        do throws(SoundFileError) {
            if try MP3Frame(in: file, at: 0) != nil { return true }
        } catch {
            // MPEG audio of another kind.
            return true
        }
        guard let start = MP3Start.find(in: file) else { return false }
        return MP3Start.isConfirmed(file, at: start)
    }

    /// Reads a whole file. Tags and zeros may stand before, between and behind the frames; other bytes only before the
    /// first one, 64 KiB at most.
    ///
    /// - Parameter seconds: The longest audio that is accepted.
    /// - Throws: `noFrame` or `cutFrame` for a file that is damaged or cut off, `noAudio`; and `changedFormat`,
    ///   `mpegLayer`, `freeBitrate`, or `tooLong` beyond `seconds`.
    package init(parsing file: [UInt8], upTo seconds: Int) throws(SoundFileError) {
        let span = file.span
        // Where no frame is found, what stands there instead is told.
        var (offset, isAtStart) = (MP3Start.find(in: span) ?? 0, true)
        var first: MP3Frame?
        var description: MP3FileDescription?
        var frames: [Range<Int>] = []
        while offset < span.count {
            if span[offset] == 0 {
                offset += 1
                continue
            }
            if let size = MP3Tag.size(in: span, at: offset) {
                offset += size
                continue
            }
            guard let frame = try MP3Frame(in: span, at: offset) else { throw .noFrame(byte: offset) }
            guard frame.size <= span.count - offset else { throw .cutFrame(byte: offset) }
            let place = offset..<(offset + frame.size)
            offset = place.upperBound
            if isAtStart {
                isAtStart = false
                first = frame
                description = MP3FileDescription(in: span.extracting(place), frame)
                if description != nil { continue }
            }
            guard let first, frame.continues(first) else { throw .changedFormat(byte: place.lowerBound) }
            frames.append(place)
            guard frames.count * frame.samples <= seconds * frame.rate + Self.longestTrim else {
                throw .tooLong(minutes: seconds / 60)
            }
        }
        guard let first else { throw .noAudio }
        let decoded = frames.count * first.samples
        let delay = description?.delay
        preSkip = delay.map { $0 + Self.decoderDelay } ?? 0
        sampleCount = min(decoded - (delay ?? 0) - (description?.padding ?? 0), decoded - preSkip)
        guard sampleCount > 0 else { throw .noAudio }
        guard sampleCount <= seconds * first.rate else { throw .tooLong(minutes: seconds / 60) }
        (rate, channels, bytes, self.frames) = (first.rate, first.channels, file, frames)
    }

    /// The most samples that delay and padding can take, which have 12 bits each, and the decoder.
    private static let longestTrim = 2 * 4_095 + decoderDelay
}
