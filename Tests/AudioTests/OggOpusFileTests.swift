import Audio
import Primitives
import TestSupport
import Testing

struct OggOpusFileTests {
    private static func parsed(_ file: [UInt8]) throws(SoundFileError) -> OggOpusFile {
        try OggOpusFile(parsing: file.span)
    }

    private static func refusal(_ file: [UInt8]) -> SoundFileError? {
        do throws(SoundFileError) {
            _ = try parsed(file)
            return nil
        } catch {
            return error
        }
    }

    @Test func `files of another program are read`() throws {
        let mono = try Self.parsed(Fixtures.bytes("audio/mono.opus"))
        #expect((mono.channels, mono.preSkip, mono.gain, mono.sampleCount) == (1, 312, 0, 48_000))
        let stereo = try Self.parsed(Fixtures.bytes("audio/stereo.ogg"))
        #expect((stereo.channels, stereo.preSkip, stereo.sampleCount) == (2, 312, 59_232))
        #expect((0..<stereo.packetCount).allSatisfy { OpusPacket.sampleCount(of: stereo.packet($0)) == 2_880 })
    }

    /// A checksum worked out by another program (ffmpeg).
    @Test func `the checksum is Ogg's own`() throws {
        let file = try Fixtures.bytes("audio/mono.opus")
        #expect(OggPage.checksum(of: file.span.extracting(0..<47)) == 0x72B5_2802)
    }

    @Test(arguments: [(960, 648), (1_920, 1_608), (1_500, 1_188), (312, 0), (100, 0)] as [(UInt64, Int)])
    func `the end is trimmed to the last granule position, the beginning by the pre-skip`(
        _ granule: UInt64, _ count: Int
    ) throws {
        var writer = OggWriter.started()
        writer.page([OggWriter.packet, OggWriter.packet], granule: granule, .last)
        #expect(try Self.parsed(writer.file).sampleCount == count)
    }

    @Test func `a file that was cut out of a longer one begins where it begins`() throws {
        var writer = OggWriter.started()
        writer.page([OggWriter.packet], granule: 1_000_960)
        writer.page([OggWriter.packet, OggWriter.packet], granule: 1_002_780, .last)
        #expect(try Self.parsed(writer.file).sampleCount == 2_780 - 312)
    }

    @Test func `packets may go over pages, and end exactly with a segment`() throws {
        let long = [UInt8](repeating: 0xF8, count: 700)
        let exact = [0xF8] + [UInt8](repeating: 9, count: 254)
        var writer = OggWriter.started()
        writer.page([Array(long[..<510])], segments: [255, 255], granule: .max)
        writer.page([Array(long[510...]), exact], segments: [190, 255, 0], granule: 1_920, [.continued, .last])
        let file = try Self.parsed(writer.file)
        #expect(file.packetCount == 2)
        #expect((0..<2).map { file.packet($0).count } == [700, 255])
        #expect(long.indices.allSatisfy { file.packet(0)[$0] == long[$0] })
    }

    @Test func `pages of other streams are passed over, and what follows the stream too`() throws {
        var writer = OggWriter()
        writer.page([OggWriter.head()], granule: 0, .first)
        var other = (serial: UInt32(99), number: UInt32(0))
        func swapStreams() {
            (writer.serial, other.serial) = (other.serial, writer.serial)
            (writer.number, other.number) = (other.number, writer.number)
        }
        swapStreams()
        writer.page([Array("theora".utf8)], granule: 0, .first)
        swapStreams()
        writer.page([OggWriter.tags], granule: 0)
        swapStreams()
        writer.page([[1, 2, 3]], granule: 5, .last)
        swapStreams()
        writer.page([OggWriter.packet], granule: 960, .last)
        writer.serial = 1_000
        writer.page([OggWriter.head()], granule: 0, .first)
        #expect(try Self.parsed(writer.file).packetCount == 1)
    }

    @Test(arguments: [1, 20, 27, 30, 60, 200]) func `of a file that was cut off, what is whole counts`(_ missing: Int)
        throws
    {
        var writer = OggWriter.started()
        writer.page([OggWriter.packet, OggWriter.packet], granule: 1_920)
        let whole = writer.file.count
        writer.page([[UInt8](repeating: 0xF8, count: 250)], granule: 2_880, .last)
        let file = Array(writer.file.dropLast(missing))
        try #require(file.count > whole)
        #expect(try Self.parsed(file).sampleCount == 1_920 - 312)
    }

    @Test func `the gain and both mappings of few channels are read`() throws {
        for (head, channels, gain) in [
            (OggWriter.head(gain: -768), 1, -768), (OggWriter.head(channels: 2, gain: 512), 2, 512),
            (OggWriter.head(channels: 2, mapping: [1, 1, 1, 0, 1]), 2, 0), (OggWriter.head(version: 15), 1, 0),
        ] {
            var writer = OggWriter.started(head)
            writer.page([OggWriter.packet], granule: 960, .last)
            let file = try Self.parsed(writer.file)
            #expect((file.channels, file.gain) == (channels, gain))
        }
    }

    private static func after(_ head: [UInt8] = OggWriter.head(), _ change: (inout OggWriter) -> Void) -> [UInt8] {
        var writer = OggWriter.started(head)
        change(&writer)
        return writer.file
    }

    private static let refused: [(SoundFileError, [UInt8])] = [
        (.noFirstPacket, []),
        (.noFirstPacket, Array("OggS".utf8)),
        (.noPage(byte: 0), [UInt8](repeating: 1, count: 100)),
        (.pageVersion(3), after { $0.page([OggWriter.packet], granule: 960, version: 3) }),
        (
            .wrongChecksum(byte: 47),
            {
                var file = after { $0.page([OggWriter.packet], granule: 960, .last) }
                file[80] ^= 1
                return file
            }()
        ),
        (
            .noStart,
            {
                var writer = OggWriter()
                writer.page([OggWriter.head()], granule: 0)
                return writer.file
            }()
        ),
        (
            .missingPages(after: 1, before: 3),
            after {
                $0.number = 3
                $0.page([OggWriter.packet], granule: 960)
            }
        ),
        (
            .brokenPacket(page: 2),
            after { $0.page([OggWriter.packet], granule: 960, .continued) }
        ),
        (
            .brokenPacket(page: 3),
            after {
                $0.page([[UInt8](repeating: 0xF8, count: 255)], segments: [255], granule: .max)
                $0.page([OggWriter.packet], granule: 960)
            }
        ),
        (
            .longPacket(page: 4),
            after { writer in
                let full = [UInt8](repeating: 0xF8, count: 255 * 100)
                for index in 0..<3 {
                    writer.page(
                        [full], segments: [UInt8](repeating: 255, count: 100), granule: .max,
                        index == 0 ? [] : .continued)
                }
            }
        ),
        (.notOpus, after(Array("\u{1}vorbis and more than nineteen bytes".utf8)) { _ in }),
        (.shortHead(bytes: 10), after(Array(OggWriter.head().prefix(10))) { _ in }),
        (.headVersion(16), after(OggWriter.head(version: 16)) { _ in }),
        (.opusChannels(0), after(OggWriter.head(channels: 0)) { _ in }),
        (
            .opusChannels(6),
            after(OggWriter.head(channels: 6, mapping: [1, 4, 2, 0, 1, 2, 3, 4, 5])) { _ in }
        ),
        (.severalStreams, after(OggWriter.head(channels: 2, mapping: [1, 2, 0, 0, 1])) { _ in }),
        (
            .mappingFamily(255),
            after(OggWriter.head(mapping: [255, 1, 0, 0])) { _ in }
        ),
        (
            .noTags,
            {
                var writer = OggWriter()
                writer.page([OggWriter.head()], granule: 0, .first)
                writer.page([OggWriter.packet], granule: 960)
                return writer.file
            }()
        ),
        (.noAudio, after { _ in }),
        (.notOpusPacket(page: 2), after { $0.page([[]], granule: 960) }),
        (.notOpusPacket(page: 2), after { $0.page([[3, 0x3F]], granule: 960) }),
        (.noPosition(page: 2), after { $0.page([OggWriter.packet], granule: .max) }),
        (.positionBelowSamples(page: 2), after { $0.page([OggWriter.packet], granule: 959) }),
        (
            .positionBelowFormer(page: 3),
            after {
                $0.page([OggWriter.packet], granule: 960)
                $0.page([OggWriter.packet], granule: 950, .last)
            }
        ),
        (
            .tooLong(minutes: 30),
            after { writer in
                // 120 ms in two bytes.
                let page = [[UInt8]](repeating: [0xFB, 6], count: 250)
                for index in 1...61 { writer.page(page, granule: UInt64(index * 250 * 5_760)) }
            }
        ),
    ]

    @Test func `the longest audio may be limited further`() throws {
        var writer = OggWriter.started()
        // 120 ms in two bytes: ten minutes, and 5,760 samples more.
        let page = [[UInt8]](repeating: [0xFB, 6], count: 250)
        for index in 1...20 { writer.page(page, granule: UInt64(index * 250 * 5_760)) }
        writer.page([[0xFB, 6]], granule: 5_001 * 5_760, .last)
        let file = writer.file
        #expect(try Self.parsed(file).sampleCount == 5_001 * 5_760 - 312)
        #expect(throws: SoundFileError.tooLong(minutes: 10)) {
            try OggOpusFile(parsing: file.span, upTo: 600 * 48_000)
        }
    }

    @Test(arguments: refused) func `what cannot be played is refused with the reason`(
        _ reason: SoundFileError, _ file: [UInt8]
    ) {
        #expect(Self.refusal(file) == reason)
    }

    @Test(
        arguments: [
            ([0x00], 480), ([0x08], 960), ([0x10], 1_920), ([0x18], 2_880), ([0x60], 480), ([0x68], 960), ([0x80], 120),
            ([0x88], 240), ([0x90], 480),
            ([0x98], 960), ([0x99], 1_920), ([0x9A, 5], 1_920), ([0x9B, 6], 5_760), ([0x9B, 7], nil), ([0x9B, 0], nil),
            ([0x9B], nil), ([0x1B, 2], 5_760),
            ([0x83, 48], 5_760), ([], nil),
        ] as [([UInt8], Int?)])
    func `a packet says how long it is`(_ packet: [UInt8], _ count: Int?) {
        #expect(OpusPacket.sampleCount(of: packet.span) == count)
    }
}
