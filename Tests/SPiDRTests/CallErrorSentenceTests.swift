import CallControl
import Primitives
import SDP
import SPiDR
import Testing

/// The sentences that are made of typed errors.
struct CallErrorSentenceTests {
    @Test(
        arguments: [
            (
                .malformedDescription(.malformedLine(2, .originFields)),
                "The SDP cannot be read: SDP line 2: o= needs six fields."
            ),
            (
                .unsupportedDescription(.noUsableMedia([])),
                "The SDP cannot be used: the description has no m-line; offer at least one of audio and video."
            ),
            (.unplayable(.noFolder), "This cannot be played: no media folder is configured (media.folder)."),
            (
                .unplayable(.invalidName("../x.wav")),
                "This cannot be played: \"../x.wav\" is not the name of a file in the media folder."
            ),
            (.unplayable(.notFound("x.wav")), "This cannot be played: there is no file \"x.wav\" in the media folder."),
            (
                .unplayable(.notRegular("x.wav")),
                "This cannot be played: \"x.wav\" is not a file of its own in the media folder."
            ),
            (
                .unplayable(.tooLarge("x.wav", limit: 128 << 20)),
                "This cannot be played: \"x.wav\" is larger than 128 MB."
            ),
            (.unplayable(.unreadable("x.wav")), "This cannot be played: \"x.wav\" cannot be read."),
            (
                .unplayable(.undecodable("x.wav", .noDataChunk)),
                "This cannot be played: \"x.wav\": it has no data chunk."
            ),
            (
                .unplayable(.undecodable("x.mp3", .unknownFormat)),
                "This cannot be played: \"x.mp3\": it is no WAV, Ogg Opus or MP3 file."
            ),
            (
                .unplayable(.undecodable("x.mp3", .cutFrame(byte: 417))),
                "This cannot be played: \"x.mp3\": it ends inside its MP3 frame at byte 417."
            ),
            (
                .unplayable(.undecodable("x.mp3", .mpegLayer(2))),
                "This cannot be played: \"x.mp3\": it is MPEG audio of layer 2; layer 3 (MP3) can be played."
            ),
            (
                .unplayable(.undecodable("x.opus", .wrongChecksum(byte: 121))),
                "This cannot be played: \"x.opus\": its page at byte 121 is damaged: the checksum differs."
            ),
            (
                .unplayable(.undecodable("x.opus", .decoderFailed(code: -3))),
                "This cannot be played: \"x.opus\": libopus cannot decode it: error -3."
            ),
            (
                .unplayable(.notFetched("https://example.com/x.wav", .status(404))),
                "This cannot be played: \"https://example.com/x.wav\" cannot be fetched: the server answers with status 404."
            ),
        ] as [(CallError, String)])
    func `an error says what is wrong with a description or a file`(_ error: CallError, _ sentence: String) {
        #expect(error.sentence == sentence)
    }
}
