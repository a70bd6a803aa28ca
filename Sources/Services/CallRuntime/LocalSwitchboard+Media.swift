package import CallControl

/// The media of calls: what the gateway plays, presses and measures.
extension LocalSwitchboard {
    package func play(
        _ user: UserAddress, _ session: SessionID, _ playback: Playback, to target: MediaTarget
    ) async throws(CallError) {
        let (call, leg) = try await leg(of: session, for: user)
        if case .file(let name) = playback.source {
            try await call.checkPlay(by: leg)
            do throws(MediaFileError) {
                try await environment.media.load(file: name)
            } catch {
                throw .unplayable(error.description)
            }
        }
        try await call.play(playback, to: target, by: leg)
    }

    package func stopPlaying(_ user: UserAddress, _ session: SessionID, to target: MediaTarget) async throws(CallError)
    {
        let (call, leg) = try await leg(of: session, for: user)
        try await call.stopPlaying(to: target, by: leg)
    }

    package func sendDigits(
        _ user: UserAddress, _ session: SessionID, _ digits: DigitSequence, to target: MediaTarget
    ) async throws(CallError) {
        let (call, leg) = try await leg(of: session, for: user)
        try await call.sendDigits(digits, to: target, by: leg)
    }

    package func statistics(
        _ user: UserAddress, _ session: SessionID
    ) async throws(CallError) -> (own: Leg, statistics: CallMediaStatistics) {
        let (call, leg) = try await leg(of: session, for: user)
        // A call whose media goes from peer to peer has nothing to show.
        return (leg, await environment.media.statistics(of: call.id) ?? CallMediaStatistics(legs: []))
    }
}
