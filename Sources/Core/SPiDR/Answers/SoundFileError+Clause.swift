import Primitives

extension SoundFileError {
    /// The error as a clause behind the name of the file.
    var clause: String {
        switch self {
        case .unknownFormat: "it is no WAV, Ogg Opus or MP3 file"
        case .notWave: "it is no RIFF/WAVE file"
        case .shortFormatChunk: "its format chunk is too short"
        case .noFormatChunk: "it has no format chunk"
        case .noDataChunk: "it has no data chunk"
        case .noFirstPacket: "it ends before its first packet"
        case .noPage(let byte): "there is no Ogg page at byte \(byte)"
        case .wrongChecksum(let byte): "its page at byte \(byte) is damaged: the checksum differs"
        case .noStart: "its first page does not begin a stream"
        case .missingPages(let last, let next): "between its pages \(last) and \(next) some are missing"
        case .brokenPacket(let page): "its page \(page) does not go on where the one before stopped"
        case .longPacket(let page): "its page \(page) has a packet that is too long"
        case .shortHead(let bytes): "its OpusHead has \(bytes) bytes; 19 are the least"
        case .noTags: "its second packet is not OpusTags"
        case .notOpusPacket(let page): "its page \(page) has a packet that is not Opus"
        case .noAudio: "it has no audio"
        case .noPosition(let page): "its page \(page) has no granule position"
        case .positionBelowSamples(let page): "its page \(page) has a granule position below its samples"
        case .positionBelowFormer(let page): "its page \(page) has a granule position below the one before"
        case .malformedPacket: "libopus cannot decode it: a packet is malformed"
        case .decoderFailed(let code): "libopus cannot decode it: error \(code)"
        case .noFrame(let byte): "there is no MP3 frame at byte \(byte)"
        case .cutFrame(let byte): "it ends inside its MP3 frame at byte \(byte)"
        case .changedFormat(let byte): "its MP3 frame at byte \(byte) has another sample rate or number of channels"
        case .malformedFrame: "libmpg123 cannot decode it: a frame is malformed"
        case .frameDecoderFailed(let code): "libmpg123 cannot decode it: error \(code)"
        case .sampleFormat(let code, let bits):
            "its samples have the format \(code) with \(bits) bits; PCM of 16 bits and G.711 can be played"
        case .sampleRate(let rate): "its sample rate is \(rate) Hz; 8000 to 48000 can be played"
        case .waveChannels(let channels): "it has \(channels) channels"
        case .pageVersion(let version): "its pages have the version \(version); 0 is known"
        case .notOpus: "its Ogg stream is not Opus"
        case .headVersion(let version): "its OpusHead has the version \(version)"
        case .opusChannels(let channels): "it has \(channels) channels; one and two can be played"
        case .severalStreams: "its channels are in several streams"
        case .mappingFamily(let family): "its channel mapping is of family \(family); 0 and 1 can be played"
        case .mpegLayer(let layer): "it is MPEG audio of layer \(layer); layer 3 (MP3) can be played"
        case .freeBitrate: "its MP3 frames do not tell their bit rate"
        case .tooLong(let minutes): "it is longer than \(minutes) minutes"
        }
    }
}
