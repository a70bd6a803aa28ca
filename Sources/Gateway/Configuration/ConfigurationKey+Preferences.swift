import SDP

extension ConfigurationKey {
    /// What clients are assumed to want to receive.
    static let mediaPreferences = [
        ConfigurationKey(
            "media", "audio_codecs", \.mediaPreferences.audioCodecs, .codecNames,
            "The audio codecs that are used, the most wanted first; telephone events, comfort noise and red come along."
        ),
        ConfigurationKey(
            "media", "video_codecs", \.mediaPreferences.videoCodecs, .codecNames, "The same of video; rtx comes along."),
        ConfigurationKey(
            "media", "payload_numbers", \.mediaPreferences.payloadNumbers, .payloadNumbers,
            "Payload types in the gateway's offers; a codec that has the number already swaps with it."),
        ConfigurationKey(
            "media", "audio_bandwidth", \.mediaPreferences.audioBandwidth,
            ValueFormat.count(MediaPreferences.bandwidthRange).orNone("none", "no limit"),
            "The most audio that a client is sent in kbit/s, as b=AS and b=TIAS."),
        ConfigurationKey(
            "media", "video_bandwidth", \.mediaPreferences.videoBandwidth,
            ValueFormat.count(MediaPreferences.bandwidthRange).orNone("none", "no limit"), "The same of video."),
        ConfigurationKey(
            "media", "opus_set", \.opusSet, ValueFormat<OpusParameterSet>.choice.orNone("none", "as descriptions say"),
            "Values for the settings below: webrtc 24000, 40000, off, on, 20; mobile 16000, 20000, on, on, 60."),
        ConfigurationKey(
            "media", "opus_max_playback_rate", \.mediaPreferences.opus.maximumPlaybackRate, opusNumber,
            "maxplaybackrate: 8000 to 48000 Hz; any other number is ignored with a warning."),
        ConfigurationKey(
            "media", "opus_max_average_bitrate", \.mediaPreferences.opus.maximumAverageBitrate, opusNumber,
            "maxaveragebitrate: 6000 to 510000 bit/s; any other number is ignored with a warning."),
        ConfigurationKey(
            "media", "opus_dtx", \.mediaPreferences.opus.usesDTX, opusSwitch, "usedtx: pauses need not be sent."),
        ConfigurationKey(
            "media", "opus_fec", \.mediaPreferences.opus.usesInbandFEC, opusSwitch,
            "useinbandfec: what is lost can be repaired."),
        ConfigurationKey(
            "media", "packet_time", \.mediaPreferences.opus.packetTime, opusNumber,
            "a=ptime of every audio codec: 3 to 120 ms in steps of 2.5, rounded up; any other number is ignored with a warning."
        ),
    ]

    private static let opusNumber = ValueFormat.count(0...1_000_000_000).orNone(
        "default", "that of the set, or as descriptions say")
    private static let opusSwitch = ValueFormat.onOrOff.orNone("default", "that of the set, or as descriptions say")
}
