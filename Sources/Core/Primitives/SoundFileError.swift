/// Why the content of a sound file cannot be played. A dialect makes the clause for whoever named the file.
package enum SoundFileError: Error, Hashable, Sendable {
    // MARK: The file is damaged, or is not of the format it claims

    /// The file starts like none of the formats that are played.
    case unknownFormat
    /// There is no RIFF/WAVE header.
    case notWave
    /// The format chunk of a WAVE file is cut off.
    case shortFormatChunk
    /// A WAVE file has no format chunk.
    case noFormatChunk
    /// A WAVE file has no data chunk.
    case noDataChunk
    /// An Ogg file ends before its first packet.
    case noFirstPacket
    /// No Ogg page starts at this byte, where one has to.
    case noPage(byte: Int)
    /// The Ogg page that starts at this byte has another checksum than it says.
    case wrongChecksum(byte: Int)
    /// The first Ogg page starts no stream.
    case noStart
    /// Pages between these two are missing.
    case missingPages(after: UInt32, before: UInt32)
    /// The page does not go on where the one before stopped.
    case brokenPacket(page: UInt32)
    /// The page has a packet that is longer than any packet of Opus.
    case longPacket(page: UInt32)
    /// The first packet (OpusHead, RFC 7845 §5.1) has only so many bytes, and 19 are the least.
    case shortHead(bytes: Int)
    /// The second packet is not OpusTags (RFC 7845 §5.2).
    case noTags
    /// The page has a packet that is not Opus.
    case notOpusPacket(page: UInt32)
    /// There is no audio behind the headers.
    case noAudio
    /// The page has no granule position, although a packet ends on it.
    case noPosition(page: UInt32)
    /// The page has a granule position that is less than its samples.
    case positionBelowSamples(page: UInt32)
    /// The page has a granule position that is less than the one before.
    case positionBelowFormer(page: UInt32)
    /// The decoder takes a packet for no valid packet of Opus (RFC 6716 §3.4).
    case malformedPacket
    /// The decoder fails with this code of libopus.
    case decoderFailed(code: Int32)
    /// Neither an MP3 frame nor a tag starts at this byte, where one has to.
    case noFrame(byte: Int)
    /// The file ends inside the MP3 frame that starts at this byte.
    case cutFrame(byte: Int)
    /// The MP3 frame that starts at this byte has another sample rate or number of channels than those before.
    case changedFormat(byte: Int)
    /// The decoder takes an MP3 frame for none.
    case malformedFrame
    /// The decoder fails with this code of libmpg123.
    case frameDecoderFailed(code: Int32)

    // MARK: The file is valid, and the gateway does not play such files

    /// The samples of a WAVE file have this format code and so many bits. PCM of 16 bits and G.711 are played.
    case sampleFormat(code: Int, bits: Int)
    /// The sample rate in Hz; 8,000 to 48,000 are played.
    case sampleRate(Int)
    /// A WAVE file with so many channels.
    case waveChannels(Int)
    /// The pages have this version; 0 is known.
    case pageVersion(UInt8)
    /// The stream in the Ogg file is not Opus.
    case notOpus
    /// The OpusHead has this version; up to 15 are compatible.
    case headVersion(UInt8)
    /// An Opus stream with so many channels; one and two are played.
    case opusChannels(Int)
    /// The channels are in several streams (RFC 7845 §5.1.1).
    case severalStreams
    /// The channel mapping is of this family; 0 and 1 are played.
    case mappingFamily(UInt8)
    /// The file is MPEG audio of this layer, 1 or 2; layer 3, which is MP3, is played.
    case mpegLayer(Int)
    /// The MP3 frames have a bit rate that their headers do not tell ("free format").
    case freeBitrate
    /// The sound is longer than so many minutes.
    case tooLong(minutes: Int)
}
