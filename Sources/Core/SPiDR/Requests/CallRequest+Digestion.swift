package import CallControl

extension CallRequest {
    /// Whether a client changes the state of its call when it reads the answer, and misreads notifications that come
    /// before that (spidr-wire §12.1).
    package var isDigested: Bool {
        switch self {
        case .start, .join, .forward, .transfer: true
        case .command(_, let command): command.isDigested
        }
    }
}

extension CallCommand {
    fileprivate var isDigested: Bool {
        switch self {
        case .answer, .reject, .end, .offer, .respond: true
        case .ring, .audit, .candidates, .send, .play, .stopPlaying, .sendDigits: false
        }
    }
}
