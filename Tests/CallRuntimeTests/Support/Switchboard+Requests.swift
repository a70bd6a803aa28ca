import AudioStreams
import CallControl
import CallRuntime

/// Requests by name. A device is named only where a test is about that.
extension Switchboard {
    func startCall(_ user: UserAddress, _ request: CallStartRequest) async throws(CallError) -> SessionID {
        try await perform(.start(request), by: user, from: request.device)
    }

    func join(
        _ user: UserAddress, _ first: SessionID, _ second: SessionID, _ request: CallUpdateRequest
    ) async throws(CallError) -> SessionID {
        try await perform(.join(first, second, request), by: user, from: nil)
    }

    func forward(_ user: UserAddress, _ session: SessionID, to address: UserAddress) async throws(CallError) {
        try await perform(.forward(session, to: address), by: user, from: nil)
    }

    func transfer(
        _ user: UserAddress, _ session: SessionID, to address: UserAddress, consultation: SessionID?
    ) async throws(CallError) {
        try await perform(.transfer(session, to: address, consultation: consultation), by: user, from: nil)
    }

    func ringing(_ user: UserAddress, _ session: SessionID, from device: SubscriptionID? = nil) async throws(CallError)
    {
        try await command(.ring, user, session, from: device)
    }

    func answer(
        _ user: UserAddress, _ session: SessionID, _ request: CallAnswerRequest, from device: SubscriptionID? = nil
    ) async throws(CallError) {
        try await command(.answer(request), user, session, from: device)
    }

    func reject(
        _ user: UserAddress, _ session: SessionID, from device: SubscriptionID? = nil, replacement: Bool
    ) async throws(CallError) {
        try await command(.reject(replacement: replacement), user, session, from: device)
    }

    func end(
        _ user: UserAddress, _ session: SessionID, from device: SubscriptionID? = nil, reasonText: String?
    ) async throws(CallError) {
        try await command(.end(reasonText: reasonText), user, session, from: device)
    }

    func audit(_ user: UserAddress, _ session: SessionID) async throws(CallError) {
        try await perform(.command(session, .audit), by: user, from: nil, outlivesCall: true)
    }

    func offer(
        _ user: UserAddress, _ session: SessionID, _ request: CallUpdateRequest, from device: SubscriptionID? = nil
    ) async throws(CallError) {
        try await command(.offer(request), user, session, from: device)
    }

    func respond(_ user: UserAddress, _ session: SessionID, _ request: CallUpdateRequest) async throws(CallError) {
        try await perform(.command(session, .respond(request)), by: user, from: nil, outlivesCall: true)
    }

    func candidates(_ user: UserAddress, _ session: SessionID, _ lines: [TrickledLine]) async throws(CallError) {
        try await command(.candidates(lines), user, session)
    }

    func send(_ user: UserAddress, _ session: SessionID, _ content: CustomContent) async throws(CallError) {
        try await command(.send(content), user, session)
    }

    func play(
        _ user: UserAddress, _ session: SessionID, _ playback: Playback, to target: MediaTarget
    ) async throws(CallError) {
        try await command(.play(playback, to: target), user, session)
    }

    func stopPlaying(_ user: UserAddress, _ session: SessionID, to target: MediaTarget) async throws(CallError) {
        try await command(.stopPlaying(to: target), user, session)
    }

    func sendDigits(
        _ user: UserAddress, _ session: SessionID, _ digits: DigitSequence, to target: MediaTarget
    ) async throws(CallError) {
        try await command(.sendDigits(digits, to: target), user, session)
    }

    private func command(
        _ command: CallCommand, _ user: UserAddress, _ session: SessionID, from device: SubscriptionID? = nil
    ) async throws(CallError) {
        try await perform(.command(session, command), by: user, from: device)
    }
}

extension ApplicationCalls {
    /// The socket of a stream is lost.
    func closed(_ stream: StreamID, in id: SessionID, by application: ApplicationIdentity) async {
        await closed(stream, in: id, by: application, because: .transient)
    }

    /// All calls of an application.
    func calls(of application: ApplicationIdentity) async -> [ApplicationCall] {
        await calls(of: application, ApplicationCallFilter(), after: nil, limit: .max)
    }
}
