import ApplicationServer
import CallControl
import CallRuntime
import HTTPTypes
import Primitives
import Testing

/// What an application reads about a refusal of its request: one sentence for each fact. Answers of webhooks are told
/// the same.
@Suite struct `Sentences of refusals` {
    private static let call = RecordedCalls.call("c1")

    /// The problem, and what the application is told of the same refusal if its webhook has answered.
    private func refused(_ refusal: ApplicationRefusal) async throws -> (Rig.Reply, WebhookAnswerRefusal?) {
        let rig = try await Rig()
        rig.calls.add(Self.call)
        rig.calls.refuse(refusal)
        let scopes: Set<ApplicationScope> = [.callsWrite]
        let responder = WebhookResponder(rig.calls, journal: rig.journal) { _ in scopes }
        var told: WebhookAnswerRefusal?
        do throws(WebhookAnswerRefusal) {
            _ = try await responder.decide(by: Array(#"{"command": "ring"}"#.utf8), in: Self.call.id, of: Rig.bot)
        } catch {
            told = error
        }
        return (await rig.ask(.post, "/v1/calls/c1/ring"), told)
    }

    private func check(_ refusal: ApplicationRefusal, _ code: String, _ sentence: String) async throws {
        let (reply, told) = try await refused(refusal)
        #expect(reply.code == code && reply.detail == sentence)
        #expect(told == WebhookAnswerRefusal(code: code, reason: sentence))
    }

    @Test(
        arguments: [
            (.state(.held, .play), "The call is held, and does not allow play."),
            (.stateForStream(.progressing), "The call is progressing, and does not allow a stream."),
            (.conference(.transfer), "The call is a conference, and does not allow transfer."),
            (
                .fewerThanTwoOthers,
                "Fewer than two others are in the call: end ends it, and transfer lets the other one go on."
            ),
            (.noDecision(.hold), "hold is no decision about a call that rings."),
            (.decided, "The call is decided, or the time to decide is over."), (.ended, "The call has ended."),
            (.answered, "The call has been answered already."), (.notNow, "The call does not allow this now."),
            (.pending, "Another request of this call is open; try again in a moment."),
            (.waitingLists(limit: 32), "As many lists wait already as may: 32."),
            (.recordings(limit: 100), "The call has as many recordings as it may: 100."),
            (.recordingGoesOn, "A recording of the call goes on already."),
            (.recordingPaused, "The recording is paused already."),
            (.recordingNotPaused, "The recording is not paused."),
            (.noRecording, "No recording of the call goes on."), (.hasStream, "The call has a stream already."),
            (.listeners(limit: 16), "The call has as many listeners as it may: 16."),
            (.noStreamOfGateway, "The gateway has opened no stream of the call."),
            (.unanswered, "A call that is not answered can be forwarded to an address alone."),
            (.otherCall(.ringing), "The other call is ringing: it has to talk, or to be held."),
            (.conferenceAmongCalls, "One of the calls is a conference, which can only be joined with others."),
            (.noEarlyMedia, "The caller's client takes nothing to hear before the answer."),
            (.unreachable, "No device can be rung at that address."),
            (.noUsableAudio, "The other side describes no audio that the gateway can decode."),
            (.forwards(limit: 5), "A call can be forwarded 5 times."),
            (.unsupported, "The gateway does not do this with such a call."),
        ] as [(ApplicationObstacle, String)])
    func `what a call does not allow is said with the reason`(
        _ obstacle: ApplicationObstacle, _ sentence: String
    ) async throws {
        try await check(.notAllowed(Self.call, obstacle), "call.not_allowed", sentence)
    }

    @Test(
        arguments: [
            (.callsOfApplication, "The application has as many calls as it may."),
            (.startsOfApplication, "The application has started too many calls in a short time."),
            (.streamsOfApplication, "The application has as many streams as it may."),
            (.startsOfParty, "Too many calls were started."), (.callsOfParty, "As many calls exist as may."),
            (.waitingKeys(limit: 64), "No more than 64 keys can wait to be sent."),
        ] as [(ApplicationRefusal.Limit, String)])
    func `a limit is said with its name`(_ limit: ApplicationRefusal.Limit, _ sentence: String) async throws {
        try await check(.limited(limit, retryAfter: .seconds(1)), "call.limited", sentence)
    }

    @Test(
        arguments: [
            (.noFolder, "file", "cannot be played: no media folder is configured (media.folder)"),
            (.invalidName("../x"), "file", "is not the name of a file in the media folder: ../x"),
            (.notFound("x.wav"), "file", "is not in the media folder: x.wav"),
            (.notRegular("x.wav"), "file", "is not a file of its own in the media folder: x.wav"),
            (.tooLarge("x.wav", limit: 128 << 20), "file", "is larger than 128 MB: x.wav"),
            (.unreadable("x.wav"), "file", "cannot be read: x.wav"),
            (.undecodable("x.wav", .tooLong(minutes: 60)), "file", "is longer than 60 minutes: x.wav"),
            (
                .undecodable("x.wav", .notWave), "file",
                "is damaged, or of a format that the gateway does not play: x.wav"
            ),
            (
                .undecodable("https://example.com/x.wav", .tooLong(minutes: 10)), "url",
                "is longer than 10 minutes: https://example.com/x.wav"
            ),
            (
                .noSoundFolder, "url",
                "cannot be played: no folder for sounds of other servers is configured (sounds.folder)"
            ),
        ] as [(MediaFileError, String, String)])
    func `what cannot be played is said with the field and the file`(
        _ error: MediaFileError, _ field: String, _ predicate: String
    ) async throws {
        let sentence = "The field \"\(field)\" \(predicate)."
        try await check(.invalid(.unplayable(error)), "request.invalid_value", sentence)
    }

    @Test(
        arguments: [
            (.unusableURL, "the URL cannot be used"),
            (.noAddress, "the host is unknown, or its address is one that the gateway may not ask"),
            (.notConnected, "the server cannot be reached"),
            (.untrusted, "the certificate of the server is not trusted"),
            (.connectionLost, "the connection ended too early"), (.timedOut, "the server took too long"),
            (.tooLarge(limit: 1_000), "the file is larger than 1000 bytes"),
            (.status(404), "the server answers with status 404"), (.busy, "too many sounds are being fetched"),
            (.noMemory, "the sounds that play or wait take too much memory"), (.stopping, "the gateway stops"),
        ] as [(SoundFetchError, String)])
    func `what cannot be fetched is said with the reason`(_ error: SoundFetchError, _ clause: String) async throws {
        let url = "https://example.com/x.wav"
        let sentence = "The field \"url\" cannot be fetched, since \(clause): \(url)."
        try await check(.invalid(.unplayable(.notFetched(url, error))), "request.invalid_value", sentence)
    }

    @Test(
        arguments: [
            (.repeatedCall(.join), "The field \"calls\" names this call, or a call twice."),
            (.repeatedCall(.bridge), "The field \"call\" names this call, or a call twice."),
            (.repeatedCall(.transfer), "The field \"call\" names this call, or a call twice."),
            (.unknownCall(SessionID("x"), .join), "The field \"calls\" names no call of this application: x."),
            (.unknownCall(SessionID("x"), .bridge), "The field \"call\" names no call of this application: x."),
            (
                .unknownCall(SessionID(String(repeating: "a", count: 65)), .transfer),
                "The field \"call\" names no call of this application: \(String(repeating: "a", count: 64))."
            ),
        ] as [(ApplicationRefusal.InvalidValue, String)])
    func `other calls that cannot be meant are said with the field`(
        _ value: ApplicationRefusal.InvalidValue, _ sentence: String
    ) async throws {
        try await check(.invalid(value), "request.invalid_value", sentence)
    }
}
