package import Primitives

/// The Opus packets in an Ogg file, and how much of their audio is played (RFC 7845).
///
///     page 0: OpusHead │ page 1…: OpusTags │ audio …
///
///     decoded   |··pre-skip··|――――――― played ―――――――|··trimmed··|
///     granule   first page's first sample            last page's
package struct OggOpusFile: Equatable, Sendable {
    /// The longest audio that is accepted, in samples of 48 kHz: half an hour. Decoded files are kept in memory.
    package static let maximumSamples = 30 * 60 * 48_000

    /// Channels of the decoded audio, 1 or 2.
    package let channels: Int
    /// Output gain that the decoder applies, in 1/256 dB (RFC 7845 §5.1).
    package let gain: Int
    /// Samples of 48 kHz at the start that are decoded and not played (RFC 7845 §4.2).
    package let preSkip: Int
    /// Samples of 48 kHz per channel that are played after `preSkip`.
    package let sampleCount: Int

    private let bytes: [UInt8]
    private let packets: [Range<Int>]

    /// The number of audio packets, without both header packets.
    package var packetCount: Int { packets.count }

    /// The payload of an audio packet, for the decoder. `index` is below `packetCount`.
    @_lifetime(borrow self)
    package func packet(_ index: Int) -> Span<UInt8> { bytes.span.extracting(packets[index]) }

    /// Whether a file starts as an Ogg file does ("OggS").
    package static func isOgg(_ file: Span<UInt8>) -> Bool {
        file.count >= 4 && file[0] == 0x4F && file[1] == 0x67 && file[2] == 0x67 && file[3] == 0x53
    }

    /// Reads a whole file.
    ///
    /// A file that was cut off is read up to the cut. If the file has several streams in sequence, the first one is
    /// read.
    ///
    /// - Parameter limit: The longest audio that is accepted, in samples of 48 kHz; `maximumSamples` unless given.
    /// - Throws: what is damaged, or that there is no audio; and `notOpus`, `headVersion`, `opusChannels`,
    ///   `severalStreams`, `mappingFamily`, `pageVersion`, or `tooLong` beyond `limit`.
    package init(parsing file: Span<UInt8>, upTo limit: Int = maximumSamples) throws(SoundFileError) {
        var stream = OggPackets()
        guard let first = try stream.next(in: file), let head = first.packets.first else {
            throw .noFirstPacket
        }
        let header = try OpusHead(parsing: stream.bytes.span.extracting(head))
        var timeline = Timeline(preSkip: header.preSkip, limit: limit)
        var (packets, hasTags) = ([Range<Int>](), false)
        while let completion = try stream.next(in: file) {
            var audio = completion.packets
            if !hasTags, let tags = audio.first {
                guard Self.starts(stream.bytes.span.extracting(tags), "OpusTags") else {
                    throw .noTags
                }
                hasTags = true
                audio.removeFirst()
            }
            for packet in audio {
                guard let count = OpusPacket.sampleCount(of: stream.bytes.span.extracting(packet)) else {
                    throw .notOpusPacket(page: completion.page.number)
                }
                packets.append(packet)
                try timeline.decode(count)
            }
            if !audio.isEmpty { try timeline.finish(completion.page) }
        }
        guard !packets.isEmpty else { throw .noAudio }
        (channels, gain, preSkip) = (header.channels, header.gain, header.preSkip)
        sampleCount = timeline.played
        bytes = stream.bytes
        self.packets = packets
    }

    static func starts(_ packet: Span<UInt8>, _ magic: StaticString) -> Bool {
        let expected = Array("\(magic)".utf8)
        guard packet.count >= expected.count else { return false }
        return expected.indices.allSatisfy { packet[$0] == expected[$0] }
    }
}

/// The first packet, the identification header (RFC 7845 §5.1).
private struct OpusHead {
    let channels: Int
    let preSkip: Int
    let gain: Int

    init(parsing packet: Span<UInt8>) throws(SoundFileError) {
        guard OggOpusFile.starts(packet, "OpusHead") else { throw .notOpus }
        guard packet.count >= 19 else { throw .shortHead(bytes: packet.count) }
        // Versions up to 15 are compatible.
        guard packet[8] & 0xF0 == 0 else { throw .headVersion(packet[8]) }
        channels = Int(packet[9])
        preSkip = Int(packet.littleEndian(at: 10, 2))
        gain = Int(Int16(truncatingIfNeeded: packet.littleEndian(at: 16, 2)))
        guard (1...2).contains(channels) else {
            throw .opusChannels(channels)
        }
        switch packet[18] {
        case 0: break
        case 1:
            // One stream, which is coupled if there are two channels, equals family 0.
            guard packet.count >= 21 + channels, packet[19] == 1, Int(packet[20]) == channels - 1 else {
                throw .severalStreams
            }
        default: throw .mappingFamily(packet[18])
        }
    }
}

/// Calculates how much of the decoded audio is played (RFC 7845 §4).
private struct Timeline {
    private let preSkip: Int
    private let limit: Int
    private var decoded: Int64 = 0
    /// The granule position of the first decoded sample: 0, unless the file was cut out of a longer one.
    private var origin: Int64?
    private var end: Int64?

    init(preSkip: Int, limit: Int) {
        self.preSkip = preSkip
        self.limit = limit
    }

    mutating func decode(_ count: Int) throws(SoundFileError) {
        decoded += Int64(count)
        guard decoded <= Int64(limit + preSkip) else {
            throw .tooLong(minutes: limit / 48_000 / 60)
        }
    }

    /// Follows a page on which at least one audio packet has ended.
    mutating func finish(_ page: OggPage) throws(SoundFileError) {
        guard let granule = page.granulePosition, granule >= 0 else {
            throw .noPosition(page: page.number)
        }
        guard let origin else {
            // Only the last page may declare less than it contains: its end is trimmed.
            guard granule >= decoded || page.isLast else {
                throw .positionBelowSamples(page: page.number)
            }
            self.origin = max(0, granule - decoded)
            end = granule
            return
        }
        guard granule >= (end ?? 0) else {
            throw .positionBelowFormer(page: page.number)
        }
        // A granule position beyond the decoded samples adds nothing to be played.
        end = min(granule, origin + decoded)
    }

    var played: Int { Int(max(0, min((end ?? 0) - (origin ?? 0), decoded) - Int64(preSkip))) }
}
