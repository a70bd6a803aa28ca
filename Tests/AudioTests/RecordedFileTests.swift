import Audio
import Primitives
import Testing

/// What recordings are written as: read again by the gateway's own readers. `test_recordings.py` reads them with
/// ffmpeg.
struct RecordedFileTests {
    @Test func `the header of a WAV file is that of the format`() throws {
        let header = WaveHeader(rate: 48_000, channels: 2)
        let bytes = header.bytes(dataSize: 8)
        #expect(bytes.count == WaveHeader.size)
        #expect(Array(bytes[..<4]) == Array("RIFF".utf8) && Array(bytes[8..<16]) == Array("WAVEfmt ".utf8))
        #expect(Array(bytes[4..<8]) == [44, 0, 0, 0], "the size of what follows it")
        #expect(
            Array(bytes[16..<36])
                == [16, 0, 0, 0, 1, 0, 2, 0, 0x80, 0xBB, 0, 0, 0, 0xEE, 2, 0, 4, 0, 16, 0])
        #expect(Array(bytes[36...]) == Array("data".utf8) + [8, 0, 0, 0])
        let file = try WaveFile(parsing: (bytes + [1, 0, 2, 0, 0xFF, 0xFF, 0, 0x80]).span)
        #expect((file.rate, file.channels, file.samples) == (48_000, 2, [1, 2, -1, .min]))
        let longest = header.bytes(dataSize: .max)
        #expect(Array(longest[4..<8]) == [0xF7, 0xFF, 0xFF, 0xFF], "sizes have 32 bits")
    }

    private static let packet: [UInt8] = [0xF8, 1, 2, 3]

    private static func packet(_ size: Int) -> [UInt8] { [0xF8] + [UInt8](repeating: 7, count: size - 1) }

    @Test func `what was added is read again, without what the encoder delays and beyond the end`() throws {
        var writer = OggOpusWriter(channels: 2, preSkip: 312, serialNumber: 0xFFFF_FFFF)
        var file = writer.start(vendor: "test")
        #expect(writer.flush().isEmpty, "nothing was added")
        for _ in 0..<3 { file += writer.add(Self.packet.span, samples: 960) }
        file += writer.flush()
        file += writer.add(Self.packet.span, samples: 960)
        file += writer.finish(played: 3 * 960)
        let read = try OggOpusFile(parsing: file.span)
        #expect((read.channels, read.preSkip, read.gain) == (2, 312, 0))
        #expect((read.packetCount, read.sampleCount) == (4, 2_880))
    }

    @Test(arguments: [254, 255, 256, 510, 1_275])
    func `packets of any size are read again`(_ size: Int) throws {
        var writer = OggOpusWriter(channels: 1, preSkip: 0, serialNumber: 1)
        var file = writer.start(vendor: "")
        for _ in 0..<100 { file += writer.add(Self.packet(size).span, samples: 960) }
        file += writer.add(Self.packet.span, samples: 960) + writer.finish(played: 101 * 960)
        let read = try OggOpusFile(parsing: file.span)
        #expect((read.packetCount, read.sampleCount) == (101, 101 * 960))
        #expect((0..<100).allSatisfy { read.packet($0).count == size })
    }

    /// A file that is cut off anywhere behind its headers, as by the end of the process.
    @Test func `the last whole page is found, and becomes the last of the stream`() throws {
        var writer = OggOpusWriter(channels: 1, preSkip: 312, serialNumber: 9)
        var (file, pages) = (writer.start(vendor: "test"), [Int]())
        for count in 1...3 {
            // A packet that looks like a page.
            let decoy: [UInt8] = [0xF8] + Array("OggS".utf8) + [UInt8](repeating: 0, count: 60)
            file += writer.add(decoy.span, samples: 960) + writer.add(Self.packet(count).span, samples: 960)
            pages.append(file.count)
            file += writer.flush()
        }
        for end in pages[1]..<file.count {
            let found = OggPage.last(in: file.span.extracting(0..<end))
            let whole = end >= pages[2] ? 1 : 0
            #expect(found?.page.granulePosition == Int64(1_920 * (whole + 1)), "cut at \(end)")
            #expect(found?.offset == pages[whole], "cut at \(end)")
        }
        let last = OggPage.last(in: file.span)
        let (page, offset) = try #require(last)
        #expect((page.granulePosition, page.isLast, page.body.upperBound) == (5_760, false, file.count))
        let marked =
            Array(file[..<offset]) + OggOpusWriter.markedLast(file.span.extracting(offset..<page.body.upperBound))
        let markedPage = try OggPage(in: marked.span, at: offset)
        #expect(markedPage?.isLast == true)
        let read = try OggOpusFile(parsing: marked.span)
        #expect(read.sampleCount == 5_760 - 312)
        let none = OggPage.last(in: file.span.extracting(0..<20))
        #expect(none?.offset == nil)
    }
}
