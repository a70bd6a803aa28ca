package import CallControl

extension LegState {
    /// What clients call the state (the mobile SDK's call states).
    package var word: String {
        switch self {
        case .initial: "INITIAL"
        case .dialing: "DIALING"
        case .sessionProgress: "SESSION_PROGRESS"
        case .ringing: "RINGING"
        case .answering: "ANSWERING"
        case .inCall: "IN_CALL"
        case .onHold: "ON_HOLD"
        case .remotelyHeld: "REMOTELY_HELD"
        case .onDoubleHold: "ON_DOUBLE_HOLD"
        case .ended: "ENDED"
        }
    }
}

extension CallProgress {
    /// The answer to the state query (spidr-wire §6.8).
    package var word: String {
        switch self {
        case .ringing: "RINGING"
        case .answered: "ANSWERED"
        }
    }
}

extension MediaPathState {
    /// What `mediaPath` of `callSession` calls the state (docs/client.md).
    package var word: String {
        switch self {
        case .waiting: "waiting"
        case .connected: "connected"
        case .secured: "secured"
        case .flowing: "flowing"
        case .lost: "lost"
        }
    }
}
