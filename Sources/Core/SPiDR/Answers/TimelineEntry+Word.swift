package import CallControl

extension TimelineEntry.Event {
    /// What an entry of `timeline` calls the event (docs/call-states.md, "Timeline and record").
    package var word: String {
        switch self {
        case .created: "created"
        case .offered: "offered"
        case .waking: "waking"
        case .ringing: "ringing"
        case .progress: "progress"
        case .answered: "answered"
        case .rejected: "rejected"
        case .answeredElsewhere: "answeredElsewhere"
        case .pathChecked: "iceConnected"
        case .pathSecured: "dtlsConnected"
        case .firstPacket: "firstPacket"
        case .mediaRestarted: "mediaRestarted"
        case .mediaPathLost: "mediaPathLost"
        case .mediaPathRecovered: "mediaPathRecovered"
        case .held: "held"
        case .resumed: "resumed"
        case .forwarded: "forwarded"
        case .transferStarted: "transferStarted"
        case .transferFailed: "transferFailed"
        case .completed: "completed"
        case .joined: "joined"
        case .moved: "moved"
        case .left: "left"
        case .omitted: "omitted"
        case .ended: "ended"
        }
    }
}
