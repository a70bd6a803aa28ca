import CallControl

/// Requests by name.
extension RecordingSwitchboard.Event {
    static func start(_ user: UserAddress, _ request: CallStartRequest) -> Self { .request(user, .start(request)) }

    static func join(
        _ user: UserAddress, _ first: SessionID, _ second: SessionID, _ request: CallUpdateRequest
    ) -> Self { .request(user, .join(first, second, request)) }

    static func forward(_ user: UserAddress, _ session: SessionID, to address: UserAddress) -> Self {
        .request(user, .forward(session, to: address))
    }

    static func transfer(
        _ user: UserAddress, _ session: SessionID, to address: UserAddress, consultation: SessionID?
    ) -> Self { .request(user, .transfer(session, to: address, consultation: consultation)) }

    static func command(_ user: UserAddress, _ session: SessionID, _ command: CallCommand) -> Self {
        .request(user, .command(session, command))
    }

    static func answer(_ user: UserAddress, _ session: SessionID, _ request: CallAnswerRequest) -> Self {
        .command(user, session, .answer(request))
    }

    static func reject(_ user: UserAddress, _ session: SessionID, replacement: Bool) -> Self {
        .command(user, session, .reject(replacement: replacement))
    }

    static func end(_ user: UserAddress, _ session: SessionID, reasonText: String?) -> Self {
        .command(user, session, .end(reasonText: reasonText))
    }

    static func offer(_ user: UserAddress, _ session: SessionID, _ request: CallUpdateRequest) -> Self {
        .command(user, session, .offer(request))
    }

    static func respond(_ user: UserAddress, _ session: SessionID, _ request: CallUpdateRequest) -> Self {
        .command(user, session, .respond(request))
    }

    static func candidates(_ user: UserAddress, _ session: SessionID, _ lines: [TrickledLine]) -> Self {
        .command(user, session, .candidates(lines))
    }

    static func content(_ user: UserAddress, _ session: SessionID, _ content: CustomContent) -> Self {
        .command(user, session, .send(content))
    }

    static func ringing(_ user: UserAddress, _ session: SessionID) -> Self { .command(user, session, .ring) }
    static func audit(_ user: UserAddress, _ session: SessionID) -> Self { .command(user, session, .audit) }

    static func play(_ user: UserAddress, _ session: SessionID, _ playback: Playback, _ target: MediaTarget) -> Self {
        .command(user, session, .play(playback, to: target))
    }

    static func stopPlaying(_ user: UserAddress, _ session: SessionID, _ target: MediaTarget) -> Self {
        .command(user, session, .stopPlaying(to: target))
    }

    static func sendDigits(
        _ user: UserAddress, _ session: SessionID, _ digits: DigitSequence, _ target: MediaTarget
    ) -> Self { .command(user, session, .sendDigits(digits, to: target)) }
}
