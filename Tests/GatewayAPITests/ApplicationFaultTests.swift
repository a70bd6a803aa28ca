import CallControl
import GatewayAPI
import Testing

/// What an application reads about a value that cannot be used.
struct ApplicationFaultTests {
    @Test(
        arguments: [
            (.itemCount(PlayList.sizes), "The field \"items\" must be 1 to 100 items."),
            (.loops(PlayList.loopCounts), "The field \"loops\" must be 0 to 1000; 0 is for ever."),
            (.volume(PlayList.volumes), "The field \"volume\" must be -30 to 10 decibels."),
            (
                .itemURL(0, limit: PlayItem.longestURL),
                "The field \"items[0].url\" must be an https URL of at most 2048 ASCII characters."
            ),
            (.itemLength(2, PlayItem.lengths), "The field \"items[2].duration\" must be 20 ms to 1 hour."),
            (
                .endlessItem(1),
                "The field \"items[1].duration\" must be given: without it the items that follow are never heard."
            ),
            (.keyCount(GatherRequest.sizes), "The field \"maximum\" must be 1 to 64."),
            (.terminators, "The field \"terminators\" must be keys: 0-9, A-D, * and #."),
            (
                .firstTimeout(GatherRequest.timeouts),
                "The field \"firstTimeout\" must be 100 ms to 300 seconds."
            ),
            (
                .betweenTimeout(GatherRequest.timeouts),
                "The field \"betweenTimeout\" must be 100 ms to 300 seconds."
            ),
            (
                .answerCount(1...GatherRequest.maximumAnswers),
                "The field \"valid\" must be 1 to 1000 answers."
            ),
            (
                .answer(3, keys: 1...4),
                "The field \"valid[3]\" must be 1 to 4 keys (0-9, A-D, * and #), none of them a terminator."
            ),
            (.channels(RecordRequest.channelCounts), "The field \"channels\" must be 1 or 2."),
            (.channelsOfOneSide, "The field \"channels\" must be 1 where one side is recorded."),
            (.recordingLength(RecordRequest.lengths), "The field \"maximum\" must be 1 s to 4 h."),
            (.silence(RecordRequest.silences), "The field \"silence\" must be 1 s to 10 min."),
            (
                .ringTimeout(ApplicationCallRequest.ringTimeouts),
                "The field \"ringTimeout\" must be 1 to 600 seconds."
            ),
            (
                .contextLength(limit: ApplicationCallRequest.maximumContextLength),
                "The field \"context\" must be at most 1024 bytes."
            ),
            (
                .tagLength(limit: PlayRequest.maximumTagLength),
                "The field \"tag\" must be at most 128 bytes."
            ),
        ] as [(ApplicationFault, String)])
    func `a value that cannot be used is refused by its field, with what it must be`(
        _ fault: ApplicationFault, _ sentence: String
    ) throws {
        let fields = try RequestFields<V1Error>(parsing: [], known: [], isOptional: true)
        #expect(fields.refusal(fault) == V1Error(.requestInvalidValue, sentence))
    }

    @Test func `a field of an object in the body is named with its place`() throws {
        let record = try RequestFields<V1Error>([:], known: [], at: "record")
        #expect(record.refusal(.channelsOfOneSide).detail.hasPrefix("The field \"record.channels\" must be 1 "))
        let prompt = try RequestFields<V1Error>([:], known: [], at: "prompt")
        #expect(prompt.refusal(.endlessItem(1)).detail.hasPrefix("The field \"prompt.items[1].duration\" must be "))
    }
}
