import Audio
import Primitives
import Testing

struct MP3FileTests {
    /// A frame of silence: its header, and zeros.
    private static func frame(_ header: [UInt8], _ size: Int) -> [UInt8] { header + zeros(size - header.count) }
    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
    private static func ascii(_ text: String) -> [UInt8] { Array(text.utf8) }
    private static func joined(_ parts: [UInt8]...) -> [UInt8] { parts.flatMap { $0 } }

    /// 44,100 Hz, two channels, 128 kbit/s.
    private static let silence = frame([0xFF, 0xFB, 0x90, 0x00], 417)
    private static let id3v2 = joined(ascii("ID3"), [4, 0, 0, 0, 0, 1, 2], zeros(130))
    private static let id3v1 = joined(ascii("TAG"), zeros(125))
    /// A header, an item of ten bytes, and a footer.
    private static let ape = joined(apeEnd(0xA0), ascii("0123456789"), apeEnd(0x80))

    private static func apeEnd(_ flags: UInt8) -> [UInt8] {
        joined(ascii("APETAGEX"), [0xD0, 7, 0, 0, 42, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, flags], zeros(8))
    }

    /// A frame that says what the encoder has put in front and behind, with those of four fields whose bits are set.
    private static func info(_ word: String, delay: Int?, padding: Int = 0, fields: UInt8 = 0xF) -> [UInt8] {
        var content = joined(ascii(word), [0, 0, 0, fields])
        for (bit, size) in [4, 4, 100, 4].enumerated() where fields >> UInt8(bit) & 1 == 1 { content += zeros(size) }
        if let delay {
            content += joined(ascii("LAME3.100"), zeros(12))
            content += [UInt8(delay >> 4), UInt8((delay & 0xF) << 4 | padding >> 8), UInt8(padding & 0xFF)]
        }
        return replaced(36, content)
    }

    /// A frame with this in place of its silence.
    private static func replaced(_ offset: Int, _ content: [UInt8]) -> [UInt8] {
        var frame = silence
        frame.replaceSubrange(offset..<(offset + content.count), with: content)
        return frame
    }

    private static func refusal(_ file: [UInt8], upTo seconds: Int = 600) -> SoundFileError? {
        do throws(SoundFileError) {
            _ = try MP3File(parsing: file, upTo: seconds)
            return nil
        } catch {
            return error
        }
    }

    /// MPEG-1, MPEG-2 and MPEG-2.5; with a byte of padding, and with a checksum.
    @Test(
        arguments: [
            ([0xFF, 0xFB, 0x90, 0x00], 417, 44_100, 2, 1_152), ([0xFF, 0xFB, 0x92, 0x40], 418, 44_100, 2, 1_152),
            ([0xFF, 0xFA, 0xE4, 0xC0], 960, 48_000, 1, 1_152), ([0xFF, 0xFB, 0x18, 0xC0], 144, 32_000, 1, 1_152),
            ([0xFF, 0xF3, 0x80, 0x80], 208, 22_050, 2, 576), ([0xFF, 0xF3, 0x14, 0xC0], 24, 24_000, 1, 576),
            ([0xFF, 0xF3, 0x88, 0xC0], 288, 16_000, 1, 576), ([0xFF, 0xE3, 0x80, 0x00], 417, 11_025, 2, 576),
            ([0xFF, 0xE3, 0x84, 0xC0], 384, 12_000, 1, 576), ([0xFF, 0xE3, 0x18, 0xC0], 72, 8_000, 1, 576),
        ] as [([UInt8], Int, Int, Int, Int)])
    func `a header says how long a frame is, and how much of which sound it has`(
        _ header: [UInt8], _ size: Int, _ rate: Int, _ channels: Int, _ samples: Int
    ) throws {
        let frame = Self.frame(header, size)
        let file = try MP3File(parsing: frame + frame, upTo: 600)
        #expect((file.rate, file.channels, file.preSkip, file.sampleCount) == (rate, channels, 0, 2 * samples))
        #expect(file.frameCount == 2 && file.frame(0).count == size && file.frame(1).count == size)
    }

    @Test func `tags and zeros are no sound, wherever they stand`() throws {
        let bytes = Self.joined(
            Self.id3v2, Self.zeros(7), Self.silence, Self.id3v2, Self.silence, Self.zeros(3), Self.ape, Self.id3v1)
        let file = try MP3File(parsing: bytes, upTo: 600)
        #expect(file.frameCount == 2 && file.sampleCount == 2_304)
        #expect((0..<2).allSatisfy { file.frame($0)[0] == 0xFF && file.frame($0).count == 417 })
        let lyrics = Self.ascii("LYRICSBEGININD00002110000042LYRICS200")
        let other = try MP3File(parsing: Self.joined(Self.silence, lyrics, Self.id3v1), upTo: 600)
        #expect(other.frameCount == 1)
    }

    /// What looks like a header and is followed by no frame; and layer II, which is not played.
    private static let alike = joined([0x55, 0xFF, 0xFB, 0x90, 0x00], text(500), [0xFF, 0xFD, 0x90, 0x00], text(9))
    private static func text(_ count: Int) -> [UInt8] { [UInt8](repeating: 0x55, count: count) }

    /// A tag that is larger than what is searched.
    private static let picture = joined(ascii("ID3"), [4, 0, 0, 0, 6, 0, 0], text(6 << 14))

    @Test(
        arguments: [
            zeros(5_000), ape, joined(ape, zeros(3)), joined(zeros(3), ape, id3v2), text(1), text(65_535), alike,
            joined(Array(silence.dropFirst(7)), text(1)), joined(Array(silence.suffix(100)), text(1), zeros(3)),
            joined(ape, text(65_535)), joined(zeros(70_000), text(100)), joined(id3v2, zeros(8), alike),
            joined(text(3), picture), joined(text(65_000), picture, text(500)),
        ] as [[UInt8]])
    func `what stands before the first frame is passed over`(_ front: [UInt8]) throws {
        for frames in [1, 2, 3] {
            let bytes = front + (0..<frames).flatMap { _ in Self.silence }
            let tagged = bytes + Self.id3v1
            let (isMP3, isTaggedMP3) = (MP3File.isMP3(bytes.span), MP3File.isMP3(tagged.span))
            #expect(isMP3 && isTaggedMP3)
            let file = try MP3File(parsing: bytes, upTo: 600)
            #expect(file.frameCount == frames && file.frame(0).count == 417 && file.frame(0)[1] == 0xFB)
        }
    }

    /// A recording that was cut within a frame: its first bytes look like a header, of which the second has a size that
    /// the file does not have, and the last is one of layer II.
    @Test(
        arguments: [
            joined([0xFF, 0xFB, 0x90, 0x00], text(150)), joined([0xFF, 0xFB, 0xE0, 0x00], text(7)),
            joined(id3v2, zeros(2), [0xFF, 0xFA, 0x50, 0x40], text(300)),
            joined([0xFF, 0xFB, 0x10, 0x00], zeros(107), text(5)), joined([0xFF, 0xFD, 0x90, 0x00], text(20)),
        ] as [[UInt8]])
    func `first bytes that only look like a header are passed over like others`(_ front: [UInt8]) throws {
        for frames in [1, 2, 3] {
            let bytes = front + (0..<frames).flatMap { _ in Self.silence }
            let isMP3 = MP3File.isMP3(bytes.span)
            #expect(isMP3)
            let file = try MP3File(parsing: bytes, upTo: 600)
            #expect(file.frameCount == frames && file.rate == 44_100 && file.frame(0).count == 417)
            #expect(file.frame(0)[4] == 0, "it is the first frame of silence")
        }
    }

    @Test func `a frame that zeros and tags separate from the next one is the first one`() throws {
        let bytes = Self.joined(Self.silence, Self.zeros(900), Self.id3v2, Self.silence, Self.silence)
        #expect(try MP3File(parsing: bytes, upTo: 600).frameCount == 3)
    }

    @Test func `bytes before the first frame are no excuse for those behind it, nor are there any number of them`() {
        let frames = Self.joined(Self.silence, Self.silence)
        #expect(Self.refusal(Self.joined(Self.text(9), frames, Self.text(9))) == .noFrame(byte: 843))
        let cut = Self.joined(Self.text(9), frames, Array(Self.silence.dropLast()))
        #expect(Self.refusal(cut) == .cutFrame(byte: 843))
        let late = Self.joined(Self.text(65_536), frames)
        let isMP3 = MP3File.isMP3(late.span)
        #expect(!isMP3)
        #expect(Self.refusal(late) == .noFrame(byte: 0))
        #expect(Self.refusal(Self.joined(Self.zeros(2), Self.text(65_536), frames)) == .noFrame(byte: 2))
    }

    @Test(
        arguments: [
            Array(String(repeating: "<p>There is no such file: \u{FF}\u{FB}.</p>", count: 4_000).utf8),
            Array(("{\"files\": [" + String(repeating: "\"TAG.mp3\", ", count: 9_000)).utf8), alike, zeros(70_000),
            joined(text(5), silence, text(5)), joined(zeros(9), silence, text(5)),
            joined(text(5), silence, frame([0xFF, 0xFB, 0x94, 0x00], 384), text(1)),
            joined(text(5), Array(silence.dropLast())),
        ] as [[UInt8]])
    func `what only looks like a frame here and there is no MP3 file`(_ file: [UInt8]) {
        let isMP3 = MP3File.isMP3(file.span)
        #expect(!isMP3)
    }

    @Test func `frames may have another bit rate than the ones before, and other modes of stereo`() throws {
        let frames = [
            Self.silence, Self.frame([0xFF, 0xFB, 0x50, 0x40], 208), Self.frame([0xFF, 0xFA, 0xE2, 0x80], 1_045),
        ]
        let file = try MP3File(parsing: frames.flatMap { $0 }, upTo: 600)
        #expect((0..<3).map { file.frame($0).count } == [417, 208, 1_045])
    }

    /// Of 3,456 samples in three frames; a decoder is 529 late.
    @Test(
        arguments: [
            (info("Info", delay: 576, padding: 1_000), 1_105, 1_880),
            (info("Xing", delay: 576, padding: 1_000, fields: 1), 1_105, 1_880),
            (info("Xing", delay: 576, padding: 1_000, fields: 0), 1_105, 1_880),
            (info("Xing", delay: 0x123, padding: 0x456), 820, 2_055),
            (info("Info", delay: 576, padding: 100), 1_105, 2_351),
            (info("Info", delay: nil), 0, 3_456), (info("Xing", delay: nil, fields: 0), 0, 3_456),
            (replaced(36, ascii("VBRI")), 0, 3_456),
        ] as [([UInt8], Int, Int)])
    func `what an encoder has put in front and behind is not played`(
        _ first: [UInt8], _ preSkip: Int, _ count: Int
    ) throws {
        let file = try MP3File(parsing: Self.joined(first, Self.silence, Self.silence, Self.silence), upTo: 600)
        #expect((file.frameCount, file.preSkip, file.sampleCount) == (3, preSkip, count))
    }

    @Test(
        arguments: [
            ([], .noAudio), (id3v2, .noAudio), (zeros(100), .noAudio), (id3v1, .noAudio), (ape, .noAudio),
            (info("Info", delay: 576), .noAudio), (joined(info("Info", delay: 1_000, padding: 152), silence), .noAudio),
            (joined(info("Info", delay: 4_095, padding: 4_095), silence), .noAudio),
            (ascii("<html>"), .noFrame(byte: 0)), (joined(silence, ascii("garbage")), .noFrame(byte: 417)),
            (joined(id3v2, ascii("garbage")), .noFrame(byte: 140)), (ascii("ID3"), .noFrame(byte: 0)),
            (joined(ascii("ID3"), [4, 0, 0, 0x80, 0, 0, 0]), .noFrame(byte: 0)),
            (Array(silence.dropLast()), .cutFrame(byte: 0)),
            (joined(silence, Array(silence.prefix(100))), .cutFrame(byte: 417)),
            (joined(silence, [0xFF, 0xFB]), .noFrame(byte: 417)),
            (joined(silence, frame([0xFF, 0xFB, 0x94, 0x00], 384)), .changedFormat(byte: 417)),
            (joined(silence, frame([0xFF, 0xFB, 0x90, 0xC0], 417)), .changedFormat(byte: 417)),
            (joined(silence, frame([0xFF, 0xF3, 0x80, 0x00], 208)), .changedFormat(byte: 417)),
            ([0xFF, 0xFF, 0x90, 0x00], .mpegLayer(1)), ([0xFF, 0xFD, 0x90, 0x00], .mpegLayer(2)),
            ([0xFF, 0xFB, 0x00, 0x00], .freeBitrate),
            // What is reserved: a bit rate, a sample rate, a version, a layer.
            ([0xFF, 0xFB, 0xF0, 0x00], .noFrame(byte: 0)), ([0xFF, 0xFB, 0x9C, 0x00], .noFrame(byte: 0)),
            ([0xFF, 0xEB, 0x90, 0x00], .noFrame(byte: 0)), ([0xFF, 0xF9, 0x90, 0x00], .noFrame(byte: 0)),
        ] as [([UInt8], SoundFileError)])
    func `what is wrong is said, with its place`(_ file: [UInt8], _ error: SoundFileError) {
        #expect(Self.refusal(file) == error)
    }

    @Test func `a file that is too long is refused`() {
        let second = (0..<39).flatMap { _ in Self.silence }
        #expect(Self.refusal(second, upTo: 1) == .tooLong(minutes: 0))
        #expect(Self.refusal(second, upTo: 2) == nil)
        let (eleven, ten) = (11 * 60, 10 * 60)
        let frame = Self.frame([0xFF, 0xFB, 0x10, 0x00], 104)
        let long = (0..<(eleven * 44_100 / 1_152)).flatMap { _ in frame }
        #expect(Self.refusal(long, upTo: ten) == .tooLong(minutes: 10))
        #expect(Self.refusal(long, upTo: eleven) == nil)
    }

    @Test(
        arguments: [
            (silence, true), (id3v2, true), ([0xFF, 0xFD, 0x90, 0x00], true), ([], false), ([0xFF, 0xFB], false),
            (ascii("OggS"), false), (ascii("RIFF"), false), ([0xFF, 0xF1, 0x50, 0x80], false),
        ] as [([UInt8], Bool)])
    func `an MP3 file is known by its start`(_ file: [UInt8], _ isMP3: Bool) {
        #expect(MP3File.isMP3(file.span) == isMP3)
    }
}
